/** What the page's captcha gave, where the identity service looks for it; an Ory Kratos takes the field and leaves it at that. */
export const captchaOf = ({ captcha }: { captcha?: string | null | undefined }) =>
  captcha ? { transient_payload: { captcha_token: captcha } } : {}
