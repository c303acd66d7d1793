import { type Client, createClient, createLive, type Live, type Socket } from '@crux/client'
import { contract } from '@crux/contract'
import { WebSocket } from 'ws'

/** A signed-in user with a client, which uses the API flow of the identity service like a script of a customer. */
export type TestUser = {
  email: string
  password: string
  sessionToken: string
  client: Client
  live: () => Live
  headers: () => Record<string, string>
}

let serial = 0
/** Signs up a new user at the console under `url` and returns their client. */
export async function signUp(
  url: string,
  options: { email?: string; firstName?: string; lastName?: string; password?: string } = {},
): Promise<TestUser> {
  const email = options.email ?? `user-${process.pid}-${Date.now()}-${++serial}@example.com`
  const password = options.password ?? 'correct horse battery staple'
  const traits = { email, name: { first: options.firstName ?? 'Ada', last: options.lastName ?? 'Lovelace' } }
  return toTestUser(url, email, password, await submit(url, 'registration', { password, traits }))
}

/** Signs the same user in again after a restart of Crux. */
export async function signInAgain(
  url: string,
  { email, password }: Pick<TestUser, 'email' | 'password'>,
): Promise<TestUser> {
  return toTestUser(url, email, password, await submit(url, 'login', { identifier: email, password }))
}

async function submit(url: string, flowType: 'registration' | 'login', fields: object): Promise<string> {
  const flow = (await (await fetch(`${url}/kratos/self-service/${flowType}/api`)).json()) as { id: string }
  const answer = await fetch(`${url}/kratos/self-service/${flowType}?flow=${flow.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ method: 'password', ...fields }),
  })
  const body = (await answer.json()) as { session_token?: string }
  if (!body.session_token) throw new Error(`${flowType}: ${answer.status} ${JSON.stringify(body)}`)
  return body.session_token
}

function toTestUser(url: string, email: string, password: string, sessionToken: string): TestUser {
  const headers = () => ({ authorization: `Bearer ${sessionToken}` })
  return {
    email,
    password,
    sessionToken,
    headers,
    client: createClient({ baseUrl: url, headers, validate: contract }),
    live: () =>
      createLive(`${url.replace(/^http/, 'ws')}/api`, {
        connect: (address) => new WebSocket(address, { headers: headers() }) as Socket,
      }),
  }
}
