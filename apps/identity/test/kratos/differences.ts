import type { Found } from './run.ts'

/** A position in recorded answers where the answers of Crux may differ. `*` matches any name. */
export interface Difference {
  /** `topic: guarantee` */
  scenario: string
  step?: string
  /** The position in the answer; everything below it is included. */
  path: string
  /** The value of Crux at this position, or its status where the whole answer differs (`path: '*'`); any other value fails the test. */
  here?: unknown
  reason: string
}

/** All intended differences of the service from Ory Kratos. The table in docs/identity.md documents the same ones. */
export const differences: Difference[] = [
  ...['body.session', 'body.session_token', 'body.continue_with', 'cookies'].map((path) => ({
    scenario: 'codes: sign up: the right code signs *',
    step: 'answer',
    path,
    reason: 'one code is enough: signing up with it signs in, as with a passkey',
  })),
  ...['below credentials', 'schema_url', 'state_changed_at', 'unknown'].map((step) => ({
    scenario: 'admin: a patch of a protected field is refused',
    step,
    path: '*',
    here: 400,
    reason: 'the original accepts a patch of what it does not change; ours refuses what it would have to ignore',
  })),
  ...['password', 'oidc'].map((step) => ({
    scenario: 'admin: a request for a credential with its secret is refused',
    step,
    path: '*',
    here: 400,
    reason: 'what proves a credential never leaves the service, so asking for it is refused',
  })),
  {
    scenario: 'admin: an import may contain an address that the traits lack',
    path: '*',
    here: 400,
    reason: 'an address that is not of the traits would be lost: it is refused',
  },
  {
    scenario: 'registration: a text as traits is refused',
    path: 'body',
    reason: 'the original fails with an error of its own (500 in the body); ours says what is wrong with the form',
  },
  {
    scenario: 'login: a disabled user is refused',
    step: 'wrong password',
    path: 'body.active',
    reason: 'the original keeps in the flow which method was tried last, also when the attempt had another outcome',
  },
  {
    scenario: 'transport: signing in changes the cookie',
    step: 'used again',
    path: 'body.active',
    reason: 'the same',
  },
  {
    scenario: 'verification: *',
    path: 'body.active',
    here: 'code',
    reason: 'the original names a method that does not exist',
  },
  {
    scenario: '*',
    path: '*publicKey.authenticatorSelection.authenticatorAttachment',
    reason: 'the original lets passkeys lie in the computer itself only; ours also in phones and on security keys',
  },
  {
    scenario: 'recovery: recovery verifies the address and leaves other sessions alone',
    step: 'other',
    path: '*',
    here: 401,
    reason: "an address that nobody has proven yet is somebody else's to sign up with: its owner ends what they left",
  },
  {
    scenario: 'codes: sign in: a user whose address is not verified signs in with a code',
    step: 'whoami',
    path: '*',
    here: 401,
    reason: 'the same',
  },
  {
    scenario: 'codes: sign in: an unknown address does not sign in',
    step: 'answer',
    path: 'body',
    reason: 'ours answers alike for addresses that nobody has: who asks learns nothing about others',
  },
  {
    scenario: 'codes: sign in: a code without an address is refused',
    path: 'body.ui.nodes.default/identifier',
    reason: 'the original hides the input that has to be filled in',
  },
  {
    scenario: 'codes: sign in: a user whose address is not verified signs in with a code',
    path: '*identity.verifiable_addresses',
    reason: 'the original shows the address as it was before the code verified it, and never says when that was',
  },
  {
    scenario: 'recovery: the right code recovers the account by API',
    step: 'answer',
    path: '*',
    reason: 'the original leaves an API client with an address for browsers; ours gives it a session and the settings',
  },
  {
    scenario: 'recovery: *',
    step: 'answer',
    path: 'cookies',
    here: [],
    reason: 'API clients get no csrf cookie: they could not submit with it',
  },
  {
    scenario: 'verification: *',
    step: 'answer',
    path: 'cookies',
    here: [],
    reason: 'API clients get no csrf cookie: they could not submit with it; browsers that have one keep it',
  },
  {
    scenario: 'verification: a malformed address is refused',
    path: 'body.ui.nodes.code/email.attributes.value',
    reason: 'the original forgets what was typed; ours leaves it there to be mended',
  },
  {
    scenario: 'verification: an unknown method is refused',
    path: 'body.ui',
    reason: 'the original says it beneath a button; ours says it to the form, as for every other flow',
  },
  {
    scenario: 'verification: a flow that was opened by a link is completed in that browser',
    step: 'flow',
    path: 'body.ui.nodes.default/csrf_token',
    reason: 'a flow of an API client, whose link was opened in a browser, takes no csrf token and shows none',
  },
  {
    scenario: 'settings: *',
    path: '*state_changed_at',
    reason: 'the original forgets when the state was set as soon as the traits change',
  },
  {
    scenario: 'settings: an unknown trait is refused',
    path: 'body.ui.nodes.profile/traits.zap',
    reason: 'the original makes an input of what must not be there; ours says so and shows the form',
  },
  {
    scenario: 'settings: an old session may not change *',
    path: 'cookies',
    here: [],
    reason:
      'the original keeps the refused change behind a cookie for a month; ours forgets it, and the page repeats it',
  },
  {
    scenario: 'sessions: *',
    path: 'headers.link',
    reason: 'the original counts its links by the rows of the answer and names pages below zero; ours can be followed',
  },
  {
    scenario: 'factors: totp: a session without the second factor has few rights',
    step: 'sessions',
    path: 'headers.link',
    reason: 'the same links',
  },
  {
    scenario: 'admin: the sessions of an identity are listed',
    path: 'headers.link',
    reason: 'the same links',
  },
  {
    scenario: 'transport: all schemas are listed',
    path: 'headers.link',
    reason: 'the same links',
  },
  {
    scenario: 'admin: all sessions are listed in pages',
    step: 'page_size=zz',
    path: 'body.error.reason',
    reason: 'ours says what is wrong',
  },
  {
    scenario: 'transport: a submit with a body of several parts',
    path: 'body.ui.messages.0',
    reason: 'the original takes multipart forms and does not find the method in them; ours says which types it reads',
  },
  {
    scenario: 'transport: an API flow refuses *',
    path: 'body.ui.nodes.*.attributes.value',
    reason: 'what a refused request holds is not read, so it is not put into the form either',
  },
  {
    scenario: 'transport: an API flow refuses *',
    step: 'recovery',
    path: '*',
    here: 400,
    reason: 'the original begins another flow here; ours says what is wrong, as in the other flows',
  },
  {
    scenario: 'transport: the admin port redirects paths without its prefix',
    step: '/version',
    path: '*',
    here: 200,
    reason: 'programs that look after a service ask without following redirects',
  },
  {
    scenario: 'transport: the admin port redirects paths without its prefix',
    step: '/health/alive',
    path: '*',
    here: 200,
    reason: 'the same',
  },
  {
    scenario: 'transport: the admin port redirects paths without its prefix',
    step: '/schemas',
    path: '*',
    here: 200,
    reason: 'the original sends on to the public port; its address need not be reachable from where administrators are',
  },
  {
    scenario: 'transport: the admin port shows the schemas too',
    path: '*',
    here: 200,
    reason: 'the same',
  },
  {
    scenario: 'transport: the admin API does not exist on the public port',
    path: '*',
    here: 404,
    reason: 'the public port does not tell where the admin port is',
  },
  {
    scenario: 'transport: a body of half a megabyte is refused',
    path: '*',
    here: 413,
    reason: 'forms of browsers are small',
  },
  {
    scenario: 'admin: first factors cannot be deleted',
    step: 'webauthn',
    path: '*',
    here: 404,
    reason: 'the original takes away a security key that was never there',
  },
  {
    scenario: 'admin: an identity that conflicts does not stop the rest of a batch',
    step: 'read',
    path: '*',
    here: 200,
    reason: 'beside a conflict the original tells ids that nobody has',
  },
  {
    scenario: 'admin: an empty batch is accepted',
    step: 'a list',
    path: 'body.error',
    reason: 'the original tells 500 in the body of its 400',
  },
  {
    scenario: 'admin: a password hash in an unknown format is refused',
    path: '*',
    here: 400,
    reason: 'the original looks at the beginning only, and nobody could ever sign in',
  },
  {
    scenario: 'keys: *',
    path: '*publicKey.excludeCredentials',
    reason: 'ours asks browsers not to add a key that is there already',
  },
  {
    scenario: 'keys: security keys: *',
    path: '*publicKey.allowCredentials.0.transports',
    here: [],
    reason: 'ours tells browsers how a key said that it is reached',
  },
  {
    scenario: 'keys: passkeys: a key is added',
    step: 'whoami',
    path: 'body.authentication_methods',
    reason: 'the original counts adding a passkey as signing in with it',
  },
  {
    scenario: 'keys: passkeys: a key signs up a user',
    step: 'answer',
    path: 'cookies',
    reason: 'a new account is signed in; the original does that after a password only',
  },
  {
    scenario: 'keys: passkeys: a key signs up a user',
    step: 'answer',
    path: 'body.session',
    reason: 'the same',
  },
  {
    scenario: 'keys: *: a session that is not fresh cannot add a key',
    path: 'cookies',
    here: [],
    reason: 'the original keeps a refused change in a cookie to carry it out later; ours has it repeated',
  },
  {
    scenario: 'admin: a page of size zero has the default size',
    step: '?page_size=5000',
    path: '',
    here: '1000',
    reason: 'pages hold a thousand at most',
  },
]

export function isAllowed(entry: Difference, scenario: string, found: Found): boolean {
  const isThere =
    matches(entry.scenario, scenario) &&
    matches(entry.step ?? '*', found.step) &&
    (matches(entry.path, found.path) || matches(`${entry.path}.*`, found.path))
  if (!isThere) return false
  if (entry.path === '*' && found.path !== 'status') return true
  return !('here' in entry) || JSON.stringify(entry.here) === JSON.stringify(found.seen)
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}

/**
 * Fields that are never compared, because they differ between two runs of Ory Kratos too, or Crux may choose them. `observe.ts` omits exactly the
 * fields that are listed here; a relaxation without fields is a rule of its own there.
 */
export const relaxations = {
  wording: {
    fields: ['text', 'message', 'reason', 'docs', 'title', '$id', 'version', 'integrity', 'nonce'],
    reason: 'texts and builds are ours; that they are there is compared, and so are the numbers of messages',
  },
  secrets: {
    fields: ['challenge', 'secret', 'session_token_exchange_code'],
    reason: 'they are random; that they are there is compared',
  },
  errorDetails: {
    fields: ['details', 'debug'],
    reason:
      'the original quotes its own source and configuration in them, for debugging; clients read `id` and `reason`',
  },
  orderOfNodes: {
    fields: [],
    reason:
      'the original orders nodes by its configuration and between two runs differently; pages place them by group and name',
  },
  ids: {
    fields: [],
    reason:
      'they are random: each reads as <id>; tests beside the sources compare those that must be the same or must differ',
  },
  cookies: {
    fields: ['crux_device'],
    reason: 'the cookie of a known device is ours and lets a browser pass a bound of guesses',
  },
} as const satisfies Record<string, { fields: readonly string[]; reason: string }>
