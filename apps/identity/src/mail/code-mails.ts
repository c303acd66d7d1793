import { type Mail, makeMail } from './mail.ts'

interface CodeMail {
  recipient: string
  code: string
  usefulUntil: Date
}

const forAnHour = 'The code works once, within the next hour, and only on the page that asked for it.'

const revokesTokens = 'Recovering your account revokes all of your API tokens.'

/** The mail for the verification of an address. Its one link prefills the code on our page and verifies nothing by itself. */
export function verificationMail({ link, ...mail }: CodeMail & { link: string }): Mail {
  return makeMail({
    ...mail,
    subject: 'Verify your e-mail address',
    lead: ['Please verify your e-mail address for Crux with this code:'],
    link: { label: 'Or open this page, which fills the code in for you:', href: link },
    close: ['If you did not sign up, you can ignore this mail.'],
  })
}

/** The mail contains no link, because the user who requested the code has its page open. */
export function recoveryCodeMail(mail: CodeMail): Mail {
  return makeMail({
    ...mail,
    subject: 'Recover your account',
    lead: ['Someone, hopefully you, asked to recover your account with Crux. This is the code for it:'],
    close: [forAnHour, revokesTokens, 'If it was not you, you can ignore this mail: nothing changes without the code.'],
  })
}

export function recoveryLinkMail({ link, ...mail }: { recipient: string; link: string; usefulUntil: Date }): Mail {
  return makeMail({
    ...mail,
    subject: 'Recover your account',
    lead: ['Someone, hopefully you, asked to recover your account with Crux.'],
    link: { label: 'Open this page to sign in and choose a new password:', href: link },
    close: [
      'It works once, within the next hour.',
      revokesTokens,
      'If it was not you, you can ignore this mail: nothing changes without the link.',
    ],
  })
}

export function loginCodeMail(mail: CodeMail): Mail {
  return makeMail({
    ...mail,
    subject: 'Your code to sign in',
    lead: ['Sign in to Crux with this code:'],
    close: [forAnHour, 'If you did not want to sign in, do not pass the code on to anybody; you can ignore this mail.'],
  })
}

export function registrationCodeMail(mail: CodeMail): Mail {
  return makeMail({
    ...mail,
    subject: 'Your code to sign up',
    lead: ['Complete your sign-up for Crux with this code:'],
    close: [forAnHour, 'If you did not sign up, you can ignore this mail.'],
  })
}
