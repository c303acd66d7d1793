import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identitySettings, type RunningIdentity, startIdentity } from '@crux/identity'
import { createLogger, parseConfig } from '@crux/service-kit'
import { type CapturedMail, listCapturedMails } from '@crux/service-kit/mail'
import { freePort } from '@crux/test-kit'
import type { Config } from '../../src/config/config.ts'
import { startServer } from '../../src/start.ts'
import { serverDatabase, testConfig, until } from './index.ts'

export type AccountsTestEnvironment = Awaited<ReturnType<typeof startWithAccounts>>
export type Browser = ReturnType<AccountsTestEnvironment['makeBrowser']>
type FlowKind = 'login' | 'registration' | 'recovery' | 'verification' | 'settings'
type Flow = { id: string; ui: { nodes: { attributes: { name?: string; value?: string } }[] } }

/** Server and identity service as in production, on one database; the mails of both are in one directory. */
export async function startWithAccounts(
  options: {
    config?: Partial<Config>
    /** More settings of the identity service, once the address that browsers use is known. */
    identitySettings?: (url: string) => Promise<Record<string, string>>
  } = {},
) {
  const database = await serverDatabase()
  const directory = mkdtempSync(join(tmpdir(), 'crux-mails-'))
  const port = await freePort()
  const url = `http://localhost:${port}`
  const token = randomBytes(16).toString('hex')
  const log = createLogger({ name: 'test', level: 'fatal' })
  const identity: RunningIdentity = await startIdentity(
    parseConfig(identitySettings, {
      DATABASE_URL: database.url,
      CRUX_URL: url,
      CRUX_SECRET: randomBytes(16).toString('hex'),
      CRUX_MAILS_DIR: directory,
      IDENTITY_PUBLIC_PORT: '0',
      IDENTITY_ADMIN_PORT: '0',
      IDENTITY_ADMIN_TOKEN: token,
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'fatal',
      ...(await options.identitySettings?.(url)),
    }),
    { log },
  )
  const server = await startServer(
    testConfig(database.url, {
      port,
      url,
      identityPublicUrl: identity.publicUrl,
      identityAdminUrl: identity.adminUrl,
      identityAdminToken: token,
      mails: { directory, token: undefined },
      ...options.config,
    }),
    { log },
  )

  /** A browser with the features that accounts need: it keeps cookies and names its origin. */
  function makeBrowser() {
    const jar = new Map<string, string>()
    async function go(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
      const answer = await fetch(path.startsWith('http') ? path : `${server.url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          accept: 'application/json',
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(method !== 'GET' && { origin: server.url }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        if (value === '' || /Max-Age=0|Max-Age=-/i.test(cookie)) jar.delete(name)
        else jar.set(name, value)
      }
      const text = await answer.text()
      return {
        status: answer.status,
        headers: answer.headers,
        location: answer.headers.get('location'),
        body: (text ? JSON.parse(text) : undefined) as Record<string, unknown>,
      }
    }
    /** The common fields of every form. */
    async function begin(kind: FlowKind, query = '') {
      const flow = (await go(`/kratos/self-service/${kind}/browser${query}`)).body as unknown as Flow
      const csrfToken = flow.ui.nodes.find((node) => node.attributes.name === 'csrf_token')?.attributes.value ?? ''
      return { flow: flow.id, csrfToken }
    }
    return {
      go,
      begin,
      cookies: () => [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      register: async (email: string, password: string, firstName = 'Ada', lastName = 'Byron') =>
        go('/api/auth/register', {
          ...(await begin('registration')),
          method: 'password',
          email,
          password,
          firstName,
          lastName,
        }),
      login: async (email: string, password: string) =>
        go('/api/auth/login', { ...(await begin('login')), method: 'password', email, password }),
      me: async () => (await go('/api/users/me', undefined, 'POST')).body as { user: { id: string } },
    }
  }

  return {
    server,
    identity,
    database,
    directory: directory,
    makeBrowser,
    /** The identity service's own admin API, as an operator calls it. */
    async admin(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
      const answer = await fetch(`${identity.adminUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return (await answer.json()) as Record<string, unknown>
    },
    /** Waits for the newest matching mail to an address. */
    mailTo: (email: string, fits: (mail: CapturedMail) => boolean = () => true): Promise<CapturedMail> =>
      until(() => listCapturedMails(directory).find((mail) => mail.to === email && fits(mail)), 10_000),
    async stop() {
      await server.stop()
      await identity.stop()
      await database.drop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
