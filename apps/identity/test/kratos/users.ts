import { randomBytes } from 'node:crypto'
import type { Identity, Session } from '@ory/kratos-client'
import type { Browser } from '../browser.ts'
import { type Done, nextFlow, open, submit } from './flows.ts'
import type { TestEnvironment } from './service.ts'

export const password = 'seven purple Otters 31'
/** The same password, hashed with minimal cost because scenarios only compare answers. */
const passwordHash = '$argon2id$v=19$m=64,t=1,p=1$H1m+kuCX++7E7z15EfVEJQ$EMZIHE4c5GHvi3XYtmjotS+ddc/cnlKkl3CO6cA6MBE'
export const nobody = '11111111-1111-4111-8111-111111111111'
export const names = { first: 'Ada', last: 'Byron' }

/** A new address with a capital letter. */
export function newEmail(): string {
  return `Scenario-${randomBytes(6).toString('hex')}@Example.com`
}

export interface User {
  email: string
  id: string
}

/** A user that an administrator created, with a verified address and a password. */
export async function makeUser({ admin }: TestEnvironment, more: Record<string, unknown> = {}): Promise<User> {
  const email = newEmail()
  const made = await admin<Identity>('/identities', 'POST', {
    traits: { email, name: names },
    credentials: { password: { config: { hashed_password: passwordHash } } },
    verifiable_addresses: [{ value: email.toLowerCase(), verified: true, via: 'email', status: 'completed' }],
    ...more,
  })
  if (made.status !== 201) throw new Error(`nobody was made: ${made.text}`)
  return { email, id: made.json.id }
}

export interface SignedInUser extends User {
  token: string
  session: Session
  /** An API client with the token of the session. */
  client: Browser
}

export async function signIn(testEnvironment: TestEnvironment, user: User): Promise<SignedInUser> {
  const flow = await open(testEnvironment.browser(), 'login', 'api')
  const { json } = await submit(testEnvironment.browser(), flow, {
    method: 'password',
    identifier: user.email,
    password,
  })
  return { ...user, ...signed(testEnvironment, json) }
}

export async function makeSignedInUser(testEnvironment: TestEnvironment): Promise<SignedInUser> {
  return signIn(testEnvironment, await makeUser(testEnvironment))
}

export async function signInBrowser(testEnvironment: TestEnvironment, user: User): Promise<Browser> {
  const client = testEnvironment.browser()
  const flow = await open(client, 'login', 'browser')
  const answer = await submit(client, flow, { method: 'password', identifier: user.email, password })
  if (!client.sessionCookie) throw new Error(`not signed in: ${answer.text}`)
  return client
}

/** A user with a verified address who is signed in with a browser. */
export async function makeBrowserUser(
  testEnvironment: TestEnvironment,
): Promise<User & { client: Browser; session: Session }> {
  const user = await makeUser(testEnvironment)
  const client = await signInBrowser(testEnvironment, user)
  const { json: session } = await client.ask<Session>('/sessions/whoami')
  return { ...user, client, session }
}

/** A user who signed up as an API client and has not verified the address; `flow` is the one to verify it with. */
export async function signUp(testEnvironment: TestEnvironment): Promise<SignedInUser & { flow: string }> {
  const email = newEmail()
  const flow = await open(testEnvironment.browser(), 'registration', 'api')
  const { json } = await submit(testEnvironment.browser(), flow, {
    method: 'password',
    password,
    traits: { email, name: names },
  })
  const session = signed(testEnvironment, json)
  return { email, id: json.identity?.id ?? '', ...session, flow: nextFlow(json, 'show_verification_ui') }
}

function signed({ browser }: TestEnvironment, { session_token: token, session }: Done) {
  if (!token || !session) throw new Error('not signed in')
  return { token, session, client: browser({ 'x-session-token': token }) }
}
