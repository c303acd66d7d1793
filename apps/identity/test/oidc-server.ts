import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** What an account of the provider says about its person. */
export interface Account {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
  given_name?: string
  family_name?: string
}

export interface OidcServer {
  issuer: string
  /** Who signs in there next. */
  account: Account
  /** What the next person says at the provider. */
  refuses: boolean
  /** Goes to an address of the provider as a browser does, until it leads back to `stopAt`. */
  visit(url: string, stopAt: string): Promise<string>
  close(): Promise<void>
}

export const clientId = 'crux'
export const clientSecret = 'a secret that both know'

/** A real OpenID Connect provider on this machine: whoever comes is signed in as `account` and agrees to everything. */
export async function startOidcServer(redirectUris: string[]): Promise<OidcServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const accounts = new Map<string, Account>()
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'given_name', 'family_name'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    cookies: { keys: ['a key of the test'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ ...accounts.get(sub), sub }) }),
  })
  const handle = provider.callback()
  const started: OidcServer = {
    issuer,
    account: { sub: 'nobody' },
    refuses: false,
    visit: (url, stopAt) => followRedirects(url, stopAt),
    close: () => close(server),
  }
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response)
    void interact().catch((error: unknown) => response.writeHead(500).end(String(error)))

    async function interact() {
      const { prompt, params, session } = await provider.interactionDetails(request, response)
      if (started.refuses) {
        const result = { error: 'access_denied', error_description: 'the person said no' }
        return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
      }
      accounts.set(started.account.sub, started.account)
      if (prompt.name === 'login') {
        const login = { accountId: started.account.sub }
        return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
      }
      const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) })
      grant.addOIDCScope(String(params.scope))
      const consent = { grantId: await grant.save() }
      return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true })
    }
  })
  return started
}

/** A browser without a face: keeps the provider's cookies and follows its redirects. */
export async function followRedirects(url: string, stopAt: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = url
  for (let hop = 0; hop < 20; hop++) {
    if (next.startsWith(stopAt)) return next
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(next, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${next} answered ${response.status}: ${await response.text()}`)
    next = new URL(location, next).href
  }
  throw new Error('the provider redirects without end')
}

/** What GitHub's documents say of its OAuth and its API, as GitHub Enterprise serves it: below one host. */
export async function startGitHub(): Promise<{
  url: string
  user: { id: number; login: string; name: string | null }
  emails: { email: string; primary: boolean; verified: boolean; visibility: string | null }[]
  close(): Promise<void>
}> {
  const codes = new Map<string, string>()
  const github = {
    url: '',
    user: { id: 583_231, login: 'octocat', name: 'Mona Lisa Octocat' as string | null },
    emails: [] as { email: string; primary: boolean; verified: boolean; visibility: string | null }[],
    close: () => close(server),
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', github.url)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
    if (url.pathname === '/login/oauth/authorize') {
      const code = crypto.randomUUID()
      codes.set(code, url.searchParams.get('code_challenge') ?? '')
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('code', code)
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/login/oauth/access_token') {
      let body = ''
      request.on('data', (chunk: Buffer) => {
        body += chunk.toString()
      })
      request.on('end', () => {
        const form = new URLSearchParams(body)
        const known = codes.delete(form.get('code') ?? '')
        const right = form.get('client_id') === clientId && form.get('client_secret') === clientSecret
        // Mistakes are answered 200, too.
        if (!known || !right) return json(200, { error: 'bad_verification_code', error_description: 'expired' })
        json(200, {
          access_token: 'gho_16C7e42F292c6912E7710c838347Ae178B4a',
          scope: 'user:email',
          token_type: 'bearer',
        })
      })
      return
    }
    if (!/^(Bearer|token) gho_/.test(request.headers.authorization ?? '') || !request.headers['user-agent'])
      return json(401, { message: 'Requires authentication' })
    if (url.pathname === '/api/v3/user') return json(200, { ...github.user, email: null, type: 'User' })
    if (url.pathname === '/api/v3/user/emails') return json(200, github.emails)
    json(404, { message: 'Not Found' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  github.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return github
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
