/**
 * The response of the page's captcha, in the field where the identity service reads it; Ory Kratos accepts and ignores
 * the field.
 */
export const captchaOf = ({ captcha }: { captcha?: string | null | undefined }) =>
  captcha ? { transient_payload: { captcha_token: captcha } } : {}
