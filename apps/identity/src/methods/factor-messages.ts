import { error, info, type Message, time } from '../ui/messages.ts'

/** The messages of second factors, passkeys and providers. The ids are those of Ory Kratos; the texts are those of Crux. */
export const factorMessages = {
  // Messages of the sign-in.
  loginWith: (provider: string, providerId: string) =>
    info(1010002, `Sign in with ${provider}`, { provider, provider_id: providerId }),
  labelLoginTotp: () => info(1010006, 'Code of your authenticator app'),
  labelLoginLookup: () => info(1010007, 'Backup code'),
  loginWebauthn: () => info(1010008, 'Sign in with a security key'),
  loginTotp: () => info(1010009, 'Use the authenticator app'),
  loginLookup: () => info(1010010, 'Use a backup code'),
  loginPasskey: () => info(1010021, 'Sign in with a passkey'),
  totpWrong: () => error(4000008, 'The code is not right, or was used already. Please try the next one.'),
  noTotp: () => error(4000011, 'You have no authenticator app set up.'),
  lookupUsed: () => error(4000012, 'This backup code has already been used.'),
  // Ory Kratos uses the id of a wrong code here.
  webauthnWrong: () => error(4000008, 'The security key or passkey could not be confirmed. Please try again.'),
  noWebauthn: () => error(4000013, 'You have no security key set up.'),
  noLookup: () => error(4000014, 'You have no backup codes set up.'),
  noSuchPasskey: () => error(4000015, 'No account uses this passkey.'),
  lookupWrong: () => error(4000016, 'The backup code is not right.'),

  // Messages of the sign-up.
  registerWith: (provider: string, providerId: string) =>
    info(1040002, `Sign up with ${provider}`, { provider, provider_id: providerId }),
  registerContinue: (provider: string, providerId: string) =>
    info(1040003, 'Continue', { provider, provider_id: providerId }),
  registerPasskey: () => info(1040007, 'Sign up with a passkey'),
  linkedElsewhere: (provider: string) => error(4000007, `This account of ${provider} is linked to another user.`),
  takenElsewhere: () =>
    error(
      4000027,
      'An account with this e-mail address exists already. Sign in to it as before, then link this provider in the settings.',
    ),

  // Messages of the settings.
  link: (provider: string) => info(1050002, `Link ${provider}`, { provider }),
  unlink: (provider: string) => info(1050003, `Unlink ${provider}`, { provider }),
  unlinkTotp: () => info(1050004, 'Remove the authenticator app'),
  totpQr: () => info(1050005, 'QR code for your authenticator app'),
  totpSecret: (secret: string) => info(1050006, secret, { secret }),
  revealLookup: () => info(1050007, 'Show the backup codes'),
  regenerateLookup: () => info(1050008, 'Make new backup codes'),
  lookupCode: (secret: string) => info(1050009, secret, { secret }),
  lookupLabel: () => info(1050010, 'These are your backup codes. Keep them in a safe place: each signs you in once.'),
  confirmLookup: () => info(1050011, 'I have kept the codes'),
  registerWebauthn: () => info(1050012, 'Add a security key'),
  webauthnName: () => info(1050013, 'Name of the security key'),
  lookupCodeUsed: (at: Date) => info(1050014, `Used on ${at.toISOString()}`, time('used_at', at)),
  lookupCodes: (codes: Message[]) =>
    info(1050015, codes.map(({ id, text }) => (id === 1050009 ? text : 'used')).join(', '), { secrets: codes }),
  disableLookup: () => info(1050016, 'Remove the backup codes'),
  totpSecretLabel: () => info(1050017, 'The secret of your authenticator app, if you cannot scan the QR code.'),
  removeWebauthn: (name: string, addedAt: Date) =>
    info(1050018, `Remove the security key "${name}"`, toKeyContext(name, addedAt)),
  registerPasskeyInSettings: () => info(1050019, 'Add a passkey'),
  removePasskey: (name: string, addedAt: Date) =>
    info(1050020, `Remove the passkey "${name}"`, toKeyContext(name, addedAt)),
  labelVerifyTotp: () => info(1070006, 'Code of the app'),
}

function toKeyContext(name: string, addedAt: Date) {
  return { display_name: name, ...time('added_at', addedAt) }
}
