import { type Client, createClient, createLive, type Live, type Socket } from '@crux/client'
import { WebSocket } from 'ws'

/** A signed-in person with their tools, over the API flow of the identity service: what a script of a customer would do. */
export type Person = {
  email: string
  password: string
  sessionToken: string
  client: Client
  live: () => Live
  headers: () => Record<string, string>
}

let serial = 0
/** Registers somebody new at the console under `url` and returns their client. */
export async function signUp(
  url: string,
  options: { email?: string; firstName?: string; lastName?: string; password?: string } = {},
): Promise<Person> {
  const email = options.email ?? `person-${process.pid}-${Date.now()}-${++serial}@example.com`
  const password = options.password ?? 'correct horse battery staple'
  const flow = (await (await fetch(`${url}/kratos/self-service/registration/api`)).json()) as { id: string }
  const answer = await fetch(`${url}/kratos/self-service/registration?flow=${flow.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      method: 'password',
      password,
      traits: { email, name: { first: options.firstName ?? 'Ada', last: options.lastName ?? 'Lovelace' } },
    }),
  })
  const body = (await answer.json()) as { session_token?: string }
  if (!body.session_token) throw new Error(`registration of ${email}: ${answer.status} ${JSON.stringify(body)}`)
  const headers = () => ({ authorization: `Bearer ${body.session_token}` })
  return {
    email,
    password,
    sessionToken: body.session_token,
    headers,
    client: createClient({ baseUrl: url, headers, validate: true }),
    live: () =>
      createLive(`${url.replace(/^http/, 'ws')}/api`, {
        connect: (address) => new WebSocket(address, { headers: headers() }) as Socket,
      }),
  }
}
