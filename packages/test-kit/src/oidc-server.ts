import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The data of a provider account about its user. */
export interface OidcAccount {
  sub: string
  email?: string
  email_verified?: boolean
  name?: string
  given_name?: string
  family_name?: string
}

export interface OidcServer {
  issuer: string
  /** The account that signs in next. */
  account: OidcAccount
  /** Whether the next user refuses at the provider. */
  refuses: boolean
  /** Opens an address of the provider like a browser, until a redirect leads to `stopAt`. */
  visit(url: string, stopAt: string): Promise<string>
  close(): Promise<void>
}

/** The registered client of the provider. */
export const oidcClient = { clientId: 'crux', clientSecret: 'a secret that both know' }

/**
 * A real OpenID Connect provider on this machine, which signs every user in as `account` and skips the consent.
 *
 * @param redirectUris the allowed redirect addresses
 */
export async function startOidcServer(redirectUris: string[]): Promise<OidcServer> {
  // The library is loaded on demand, because most tests do not need it.
  const { default: Provider } = await import('oidc-provider')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const accounts = new Map<string, OidcAccount>()
  const provider = new Provider(issuer, {
    clients: [{ client_id: oidcClient.clientId, client_secret: oidcClient.clientSecret, redirect_uris: redirectUris }],
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
        const result = { error: 'access_denied', error_description: 'the user refused' }
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

/** Follows redirects like a browser, with the cookies of the provider. */
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

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
