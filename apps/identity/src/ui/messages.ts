/** A message of a flow. Clients evaluate `id`, which is that of Ory Kratos; the texts are those of Crux. */
export interface Message {
  id: number
  text: string
  type: 'info' | 'error' | 'success'
  context?: Record<string, unknown>
}

export const info = (id: number, text: string, context?: Message['context']): Message =>
  message('info', id, text, context)
export const error = (id: number, text: string, context?: Message['context']): Message =>
  message('error', id, text, context)

function message(type: Message['type'], id: number, text: string, context: Message['context']): Message {
  return context ? { id, text, type, context } : { id, text, type }
}

const attemptsSpent = 'Too many wrong codes. Please ask for a new one.'
const generic = (reason: string) => error(4000001, reason, { reason })

export const messages = {
  labelLogin: () => info(1010001, 'Sign in'),
  loginReauthenticate: () => info(1010003, 'Please sign in again to confirm that it is you.'),
  loginSecondFactor: () => info(1010004, 'Please confirm your sign-in with your second factor.'),
  loginCodeSent: () =>
    info(1010014, 'We have sent a code to this address, if an account uses it. Enter the code to sign in.'),
  labelSendLoginCode: () => info(1010015, 'Send a code to sign in'),
  labelLoginPassword: () => info(1010022, 'Sign in with password'),
  labelRegistration: () => info(1040001, 'Sign up'),
  registrationCodeSent: () =>
    info(1040005, 'We have sent a code to this address. Enter the code to complete the sign-up.'),
  labelSendRegistrationCode: () => info(1040006, 'Send a code to sign up'),
  settingsSaved: () => message('success', 1050001, 'Your changes have been saved.', undefined),
  recovered: (until: Date) =>
    message(
      'success',
      1060001,
      'You have recovered your account. Please change your password or set up another way to sign in within the next minutes.',
      {
        privilegedSessionExpiresAt: until.toISOString(),
        ...time('privileged_session_expires_at', until),
      },
    ),
  recoveryLinkSent: () => info(1060002, 'We have sent a link to this address, if an account uses it.'),
  recoveryCodeSent: () => info(1060003, 'We have sent a code to this address, if an account uses it. Enter it here.'),
  labelPassword: () => info(1070001, 'Password'),
  labelTrait: (title: string) => info(1070002, title, { title }),
  labelSave: () => info(1070003, 'Save'),
  labelEmail: () => info(1070007, 'E-mail'),
  labelResend: () => info(1070008, 'Send the code again'),
  labelContinue: () => info(1070009, 'Continue'),
  labelRecoveryCode: () => info(1070010, 'Recovery code'),
  labelVerificationCode: () => info(1070011, 'Verification code'),
  labelRegistrationCode: () => info(1070012, 'Code'),
  labelLoginCode: () => info(1070013, 'Code'),
  labelCaptcha: () => info(1070015, 'Please show that you are a person.'),
  verified: () => message('success', 1080002, 'Your e-mail address is verified.', undefined),
  verificationCodeSent: () =>
    info(1080003, 'We have sent a code to this address, if an account uses it. Enter the code to verify the address.'),

  generic,
  required: (property: string) => error(4000002, `${sentence(property)} is missing.`, { property }),
  invalidEmail: (value: string) => generic(`"${value}" is not valid "email"`),
  tooShort: (min: number, actual: number) =>
    error(4000003, `At least ${min} characters are needed, this has ${actual}.`, {
      min_length: min,
      actual_length: actual,
    }),
  credentialsInvalid: () => error(4000006, 'The e-mail address or the password is not right.'),
  identifierTaken: () => error(4000007, 'An account with this e-mail address exists already.'),
  addressNotVerified: () => error(4000010, 'This account is not active yet: please verify your e-mail address first.'),
  wrongType: (expected: string, actual: string) =>
    error(4000026, `Expected ${expected}, got ${actual}.`, { allowed_types: [expected], actual_type: actual }),
  passwordTooSimilar: () => error(4000031, 'The password is too similar to your e-mail address.'),
  passwordTooPersonal: () =>
    error(4000031, 'The password consists of your name or e-mail address, which is the first thing that is tried.'),
  passwordTooShort: (min: number, actual: number) =>
    error(4000032, `The password needs at least ${min} characters, this one has ${actual}.`, {
      min_length: min,
      actual_length: actual,
    }),
  passwordTooLong: (max: number, actual: number) =>
    error(4000033, `The password may have at most ${max} characters, this one has ${actual}.`, {
      max_length: max,
      actual_length: actual,
    }),
  passwordTooCommon: () =>
    error(4000034, 'This password is one of the most used ones and known to attackers.', { breaches: 1 }),
  captchaMissing: () => error(4000038, 'Please show that you are a person, then try again.'),
  captchaWrong: () => error(4000038, 'The check that you are a person has failed. Please try again.'),
  captchaUnavailable: () =>
    error(4000038, 'The check that you are a person cannot be made now. Please try again in a moment.'),
  traitsChanged: () => error(4000036, 'This is not what the code was sent for. Please start again.'),
  loginExpired: (at: Date) => expired(4010001, 'sign-in', at),
  loginMethodUnknown: () => error(4010002, 'There is no such way to sign in.'),
  registrationMethodUnknown: () => error(4010003, 'There is no such way to sign up.'),
  settingsMethodUnknown: () => error(4010004, 'There is no such setting.'),
  loginCodeInvalid: () => error(4010008, 'The code is not right or was used already. Please try again.'),
  recoveryMethodUnknown: () => error(4010005, 'There is no such way to recover an account.'),
  verificationMethodUnknown: () => error(4010006, 'There is no such way to verify an address.'),
  registrationExpired: (at: Date) => expired(4040001, 'sign-up', at),
  registrationCodeInvalid: () => error(4040003, 'The code is not right or was used already. Please try again.'),
  settingsExpired: (at: Date) => expired(4050001, 'settings', at),
  recoveryLinkInvalid: () => error(4060004, 'The link is not right or was used already. Please ask for a new one.'),
  recoveryExpired: (at: Date) => expired(4060005, 'recovery', at),
  recoveryCodeInvalid: () => error(4060006, 'The code is not right or was used already. Please try again.'),
  verificationDone: () => error(4070002, 'This verification is complete and cannot be repeated.'),
  verificationExpired: (at: Date) => expired(4070005, 'verification', at),
  verificationCodeInvalid: () => error(4070006, 'The code is not right or was used already. Please try again.'),
  attemptsSpent: () => generic(attemptsSpent),
  verificationAttemptsSpent: () => error(5000001, attemptsSpent),
}

function expired(id: number, what: string, at: Date): Message {
  const minutes = ((Date.now() - at.getTime()) / 60_000).toFixed(2)
  return error(id, `The ${what} page expired ${minutes} minutes ago, please try again.`, time('expired_at', at))
}

/** A time in the context of a message, as text and in seconds. */
export function time(name: string, at: Date): Record<string, unknown> {
  return { [name]: at.toISOString(), [`${name}_unix`]: Math.floor(at.getTime() / 1000) }
}

function sentence(property: string): string {
  return property.charAt(0).toUpperCase() + property.slice(1).replaceAll('_', ' ')
}
