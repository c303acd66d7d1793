import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, isLoopbackHost, isLoopbackUrl } from '@crux/service-kit'
import { secretFile, writeSecret } from './files.ts'

export const encryptionKeyName = 'encryption-key'
export const deprecatedKeyName = 'encryption-key-deprecated'

export interface Addresses {
  host: string
  port: number
  identityPublicPort: number
  identityAdminPort: number
  /** The address for browsers, agents and mails. */
  url: string
}

/** The public address: the configured one, otherwise localhost, which is correct only while no other machine can connect. */
export function publicUrl(said: string | undefined, host: string, port: number, scheme = 'http'): string {
  if (said) {
    if (!URL.canParse(said) || !/^https?:$/.test(new URL(said).protocol)) {
      throw new ConfigError('CRUX_URL', 'is not an http or https address', 'https://crux.example.com')
    }
    return said.replace(/\/+$/, '')
  }
  if (isLoopbackHost(host)) return `${scheme}://localhost:${port}`
  throw new ConfigError(
    'CRUX_URL',
    `is required while CRUX_HOST is ${host}: browsers and agents must know the address`,
    'http://crux.example.com:8000',
  )
}

/** The protocol of the server on its port. */
export const getScheme = (env: NodeJS.ProcessEnv): 'http' | 'https' =>
  env.CRUX_TLS_CERT || env.CRUX_TLS_CERT_FILE ? 'https' : 'http'

/** The host under which this machine reaches a listener on `host`. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * The settings of the processes. Secrets are passed as X_FILE, so that no environment contains them. A secret that the caller set, as X or X_FILE, is
 * kept.
 */
export function processEnvironment(options: {
  dataDir: string
  databaseUrl: string
  addresses: Addresses
  given: NodeJS.ProcessEnv
}): {
  identity: NodeJS.ProcessEnv
  server: NodeJS.ProcessEnv
  adminToken: string
  mails: { directory: string; token: string | undefined } | undefined
} {
  const { dataDir, addresses, given } = options
  const inherited = Object.fromEntries(
    Object.entries(given).filter(([name]) => !/^(npm_|VITEST|INIT_CWD|DATABASE_URL)/.test(name)),
  )
  const secret = (variable: string, name: string): NodeJS.ProcessEnv =>
    given[variable] || given[`${variable}_FILE`] ? {} : { [`${variable}_FILE`]: secretFile(dataDir, name) }
  const databaseFile = join(dataDir, 'secrets/database-url')
  writeSecret(databaseFile, options.databaseUrl)
  const shared: NodeJS.ProcessEnv = {
    NODE_ENV: 'production',
    ...inherited,
    DATABASE_URL_FILE: databaseFile,
    CRUX_URL: addresses.url,
    CRUX_DATA_DIR: dataDir,
    CRUX_HOST: addresses.host,
    IDENTITY_PUBLIC_PORT: String(addresses.identityPublicPort),
    IDENTITY_ADMIN_PORT: String(addresses.identityAdminPort),
    ...mailDirectory(dataDir, addresses, given),
    ...secret('CRUX_SECRET', 'crux-secret'),
    ...secret('IDENTITY_ADMIN_TOKEN', 'identity-admin-token'),
    ...secret('IDENTITY_PROXY_SECRET', 'identity-proxy-secret'),
  }
  const server: NodeJS.ProcessEnv = {
    IDENTITY_PUBLIC_URL: `http://127.0.0.1:${addresses.identityPublicPort}`,
    IDENTITY_ADMIN_URL: `http://127.0.0.1:${addresses.identityAdminPort}`,
    ...shared,
    ...secret('ENCRYPTION_SECRET_KEY', encryptionKeyName),
    ...deprecatedKey(dataDir, given),
    CRUX_PORT: String(addresses.port),
    CRUX_EMBEDDED: 'true',
  }
  const tokenFile = shared.IDENTITY_ADMIN_TOKEN_FILE
  const adminToken = shared.IDENTITY_ADMIN_TOKEN || (tokenFile ? readFileSync(tokenFile, 'utf8').trim() : '')
  const { CRUX_MAILS_DIR: directory, CRUX_MAILS_TOKEN: token } = shared
  const mails = directory === undefined ? undefined : { directory, token }
  return { identity: withoutDoubles(shared), server: withoutDoubles(server), adminToken, mails }
}

/**
 * Without a mail server, mails are stored in a directory. While no other machine can connect, a page shows them to users with the token of this
 * start, which is new at each start and in no file.
 */
function mailDirectory(dataDir: string, { host, url }: Addresses, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (given.SMTP_URI || given.SMTP_URI_FILE) return {}
  const directory = { CRUX_MAILS_DIR: join(dataDir, 'mails') }
  if (!isLoopbackHost(host) || !isLoopbackUrl(url)) return directory
  return { ...directory, CRUX_MAILS_TOKEN: given.CRUX_MAILS_TOKEN || randomBytes(12).toString('base64url') }
}

/** The old key exists only during an unfinished rotation: secrets that are not encrypted with the new key yet are decrypted with it. */
function deprecatedKey(dataDir: string, given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = join(dataDir, 'secrets', deprecatedKeyName)
  const own = given.ENCRYPTION_SECRET_KEY || given.ENCRYPTION_SECRET_KEY_FILE
  return !own && existsSync(file) ? { ENCRYPTION_DEPRECATED_KEY_FILE: file } : {}
}

/** A value that is set here replaces an X_FILE of the caller, because both together would be refused. */
function withoutDoubles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const doubled = (name: string) => name.endsWith('_FILE') && env[name.slice(0, -'_FILE'.length)] !== undefined
  return Object.fromEntries(Object.entries(env).filter(([name]) => !doubled(name)))
}
