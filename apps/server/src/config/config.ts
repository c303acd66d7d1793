import { resolve } from 'node:path'
import { isLoopbackHost, isLoopbackUrl, outboundAllow, parseConfig, trustedProxies } from '@crux/service-kit'
import { z } from 'zod'

const httpUrl = z
  .url({ protocol: /^https?$/, message: 'is not an http or https address' })
  .transform((value) => value.replace(/\/+$/, ''))
const port = z.coerce.number('is not a port').int('is not a port').min(0, 'is not a port').max(65_535, 'is not a port')
const days = z.coerce
  .number('is not a number of days')
  .int('is not a number of days')
  .min(0, 'is not a number of days')
  .max(36_500, 'is more than 100 years')
const flag = z.stringbool('is neither true nor false').default(false).meta({ example: 'true' })
const key = z
  .string()
  .regex(/^[\w-]{43}$/, 'is not a key of 32 bytes in base64url (43 characters)')
  .meta({ example: '<output of: npm run crux -- encrypt generate>' })
const list = z
  .string()
  .transform((value) => value.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
/** An origin as a Content-Security-Policy names it, without characters that would start another directive. */
const isOrigin = (text: string) => /^https?:\/\/(\*\.)?[a-z0-9.-]+(:\d{1,5})?$/i.test(text)
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Every setting of the server. Each may also be set as NAME_FILE (Docker secrets). */
const settings = z
  .object({
    CRUX_HOST: z.string().default('127.0.0.1').meta({ example: '127.0.0.1' }),
    CRUX_PORT: port.default(8000).meta({ example: 8000 }),
    CRUX_URL: httpUrl.optional().meta({ example: 'https://crux.example.com' }),
    CRUX_DATA_DIR: z.string().default('.crux').meta({ example: '/var/lib/crux' }),
    CRUX_EMBEDDED: flag,
    DATABASE_URL: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'is not an address of PostgreSQL')
      .meta({ example: 'postgresql://crux:password@localhost/crux' }),
    IDENTITY_PUBLIC_URL: httpUrl.default('http://127.0.0.1:4433').meta({ example: 'http://127.0.0.1:4433' }),
    IDENTITY_ADMIN_URL: httpUrl.default('http://127.0.0.1:4434').meta({ example: 'http://127.0.0.1:4434' }),
    IDENTITY_ADMIN_TOKEN: z
      .string()
      .min(16, 'is shorter than 16 characters')
      .optional()
      .meta({ example: '<random text>' }),
    IDENTITY_PROXY_SECRET: z
      .string()
      .min(16, 'is shorter than 16 characters')
      .optional()
      .meta({ example: '<random text>' }),
    ENCRYPTION_SECRET_KEY: key,
    ENCRYPTION_DEPRECATED_KEY: key.optional(),
    CRUX_TLS_CERT: z.string().optional().meta({ example: '<PEM, or CRUX_TLS_CERT_FILE=/path>' }),
    CRUX_TLS_KEY: z.string().optional().meta({ example: '<PEM, or CRUX_TLS_KEY_FILE=/path>' }),
    CRUX_AGENT_IMAGE: z.string().optional().meta({ example: 'registry.example.com/crux/agent:1.0' }),
    AGENT_IMAGE_FILE: z.string().optional().meta({ example: '/opt/crux/agent-image.tar' }),
    LOCAL_AGENT_COMMAND: z.string().optional().meta({ example: 'node /opt/crux/agent/main.js' }),
    OBSERVATION_WINDOW_MS: z.coerce.number().int().min(0).max(600_000).default(1_000).meta({ example: 1000 }),
    FOLLOW_CHECK_SECONDS: z.coerce
      .number('is not a number of seconds')
      .int('is not a number of seconds')
      .min(10, 'is less than 10 seconds')
      .max(86_400, 'is more than a day')
      .default(300)
      .meta({ example: 300 }),
    HUB_URL: httpUrl.default('https://hub.docker.com').meta({ example: 'https://hub.docker.com' }),
    HUB_REGISTRY_URL: httpUrl.default('https://registry-1.docker.io').meta({ example: 'https://registry-1.docker.io' }),
    GITLAB_URL: httpUrl.default('https://gitlab.com').meta({ example: 'https://gitlab.com' }),
    GITLAB_REGISTRY_URL: httpUrl
      .default('https://registry.gitlab.com')
      .meta({ example: 'https://registry.gitlab.com' }),
    GITHUB_API_URL: httpUrl.default('https://api.github.com').meta({ example: 'https://api.github.com' }),
    GITHUB_REGISTRY_URL: httpUrl.default('https://ghcr.io').meta({ example: 'https://ghcr.io' }),
    AZURE_URL: httpUrl.default('https://dev.azure.com').meta({ example: 'https://dev.azure.com' }),
    GOOGLE_TOKEN_URL: httpUrl
      .default('https://oauth2.googleapis.com/token')
      .meta({ example: 'https://oauth2.googleapis.com/token' }),
    GOOGLE_REGISTRY_URL: httpUrl.optional().meta({ example: 'https://us-docker.pkg.dev' }),
    OUTBOUND_ALLOW: outboundAllow.optional(),
    TRUSTED_PROXIES: trustedProxies.default([]),
    METRICS_TOKEN: z.string().min(16, 'is shorter than 16 characters').optional().meta({ example: '<random text>' }),
    SMTP_URI: z
      .url({ protocol: /^smtps?$/, message: 'is not an smtp or smtps address' })
      .optional()
      .meta({ example: 'smtp://user:password@mail.example.com:587' }),
    FROM_EMAIL: z.email('is not an e-mail address').optional().meta({ example: 'crux@example.com' }),
    FROM_NAME: z.string().max(100).default('Crux').meta({ example: 'Crux' }),
    /** The captcha itself belongs to the identity service; this setting is the origin that pages may load it from. */
    CAPTCHA_SCRIPT_URL: httpUrl.optional().meta({ example: 'https://challenges.cloudflare.com/turnstile/v0/api.js' }),
    CAPTCHA_ORIGINS: list
      .refine((origins) => origins.every(isOrigin), 'lists something else than origins')
      .default([])
      .meta({ example: 'https://*.hcaptcha.com,https://www.gstatic.com' }),
    CRUX_MAILS_DIR: z.string().optional().meta({ example: '/var/lib/crux/mails' }),
    CRUX_MAILS_TOKEN: z.string().min(16, 'is shorter than 16 characters').optional().meta({ example: '<random text>' }),
    CRUX_RATE_LIMITS: z.enum(['on', 'off'], 'is neither on nor off').default('on').meta({ example: 'on' }),
    AUDIT_RETENTION_DAYS: days.default(365).meta({ example: 365 }),
    EVENT_RETENTION_DAYS: days.default(90).meta({ example: 90 }),
    DISABLE_TEAM_CREATION: flag,
    LOG_LEVEL: z.enum(logLevels).default('info').meta({ example: 'info' }),
  })
  .refine(
    (read) =>
      read.CRUX_RATE_LIMITS === 'on' ||
      (isLoopbackHost(read.CRUX_HOST) && (read.CRUX_URL === undefined || isLoopbackUrl(read.CRUX_URL))),
    { path: ['CRUX_RATE_LIMITS'], message: 'it may be off only while CRUX_HOST and CRUX_URL are on loopback' },
  )
  .superRefine((read, context) => {
    // With only one of the two the server would silently serve everything in plain text.
    const lacks = (name: 'CRUX_TLS_CERT' | 'CRUX_TLS_KEY', other: string) =>
      context.addIssue({ code: 'custom', path: [name], message: `is missing beside ${other}` })
    if (read.CRUX_TLS_CERT && !read.CRUX_TLS_KEY) lacks('CRUX_TLS_KEY', 'CRUX_TLS_CERT')
    if (read.CRUX_TLS_KEY && !read.CRUX_TLS_CERT) lacks('CRUX_TLS_CERT', 'CRUX_TLS_KEY')
  })

/** The configuration of the server. */
export type Config = ReturnType<typeof readConfig>
type Tls = {
  cert: string
  key: string
  /** Set when both came from files, which are read again when they change. */
  files?: { cert: string; key: string } | undefined
}

/** @throws ConfigError with one line that says what to correct */
export function readConfig(env: NodeJS.ProcessEnv) {
  const read = parseConfig(settings, env)
  const { CRUX_TLS_CERT_FILE: certFile, CRUX_TLS_KEY_FILE: keyFile } = env
  const tls: Tls | undefined =
    read.CRUX_TLS_CERT && read.CRUX_TLS_KEY
      ? {
          cert: read.CRUX_TLS_CERT,
          key: read.CRUX_TLS_KEY,
          files: certFile && keyFile ? { cert: certFile, key: keyFile } : undefined,
        }
      : undefined
  const url = read.CRUX_URL ?? localUrl(read.CRUX_PORT, tls !== undefined)
  const proxies: readonly string[] = read.TRUSTED_PROXIES
  const allow: readonly string[] = read.OUTBOUND_ALLOW ?? (read.CRUX_EMBEDDED ? ['private'] : [])
  return {
    host: read.CRUX_HOST,
    /** The port is 0 until the system has chosen one. */
    port: read.CRUX_PORT,
    /** The one address that browsers and agents use. */
    url,
    dataDir: resolve(read.CRUX_DATA_DIR),
    embedded: read.CRUX_EMBEDDED,
    databaseUrl: read.DATABASE_URL,
    identityPublicUrl: read.IDENTITY_PUBLIC_URL,
    identityAdminUrl: read.IDENTITY_ADMIN_URL,
    identityAdminToken: read.IDENTITY_ADMIN_TOKEN,
    identityProxySecret: read.IDENTITY_PROXY_SECRET,
    encryption: { key: read.ENCRYPTION_SECRET_KEY, deprecatedKey: read.ENCRYPTION_DEPRECATED_KEY },
    tls,
    agentImage: read.CRUX_AGENT_IMAGE,
    agentImagePath: read.AGENT_IMAGE_FILE,
    localAgentCommand: read.LOCAL_AGENT_COMMAND,
    observationWindowMs: read.OBSERVATION_WINDOW_MS,
    /** Releases that following a tag starts for one deployment are this far apart. */
    followQuietMs: 10_000,
    followCheckMs: read.FOLLOW_CHECK_SECONDS * 1_000,
    hubUrl: read.HUB_URL,
    hubRegistryUrl: read.HUB_REGISTRY_URL,
    gitlabUrl: read.GITLAB_URL,
    gitlabRegistryUrl: read.GITLAB_REGISTRY_URL,
    githubApiUrl: read.GITHUB_API_URL,
    githubRegistryUrl: read.GITHUB_REGISTRY_URL,
    azureUrl: read.AZURE_URL,
    googleTokenUrl: read.GOOGLE_TOKEN_URL,
    /** Undefined: the host of each registry. */
    googleRegistryUrl: read.GOOGLE_REGISTRY_URL,
    /** `private` allows every private address; a list allows only its ranges. */
    outboundAllow: allow.includes('private') ? ('private' as const) : allow,
    trustedProxies: proxies,
    metricsToken: read.METRICS_TOKEN,
    smtpUri: read.SMTP_URI,
    mailFrom: { name: read.FROM_NAME, address: read.FROM_EMAIL ?? `crux@${new URL(url).hostname}` },
    /** Without a mail server: the directory of captured mails, and the token that shows them. */
    mails: read.CRUX_MAILS_DIR ? { directory: resolve(read.CRUX_MAILS_DIR), token: read.CRUX_MAILS_TOKEN } : undefined,
    /** False allows unlimited guesses of tokens. It is accepted only while everything listens on loopback. */
    rateLimits: read.CRUX_RATE_LIMITS === 'on',
    /** 0 keeps entries forever. */
    auditRetentionDays: read.AUDIT_RETENTION_DAYS,
    /** 0 keeps events forever. */
    eventRetentionDays: read.EVENT_RETENTION_DAYS,
    teamCreationDisabled: read.DISABLE_TEAM_CREATION,
    /** The origins of the captcha's script and frames; empty without a captcha. */
    captchaOrigins: read.CAPTCHA_SCRIPT_URL ? [new URL(read.CAPTCHA_SCRIPT_URL).origin, ...read.CAPTCHA_ORIGINS] : [],
    logLevel: read.LOG_LEVEL,
  }
}

/** The host is `localhost`, because an IP address cannot be a WebAuthn relying party. */
export const localUrl = (port: number, tls: boolean): string => `${tls ? 'https' : 'http'}://localhost:${port}`

/** Whether this server cannot be reached from another machine. */
export const isLoopbackOnly = (config: Config): boolean =>
  isLoopbackUrl(config.url) && isLoopbackUrl(`http://${config.host.includes(':') ? `[${config.host}]` : config.host}`)

/** Names of this machine for itself. No page of another site can have one of them as its host. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'] as const

/**
 * Origins whose pages may use cookies here: the origin of CRUX_URL, and on loopback the machine's other names at the
 * port.
 */
export function acceptedOrigins(config: Config): ReadonlySet<string> {
  const origins = new Set([new URL(config.url).origin])
  if (isLoopbackOnly(config)) {
    const scheme = config.tls ? 'https' : 'http'
    for (const name of loopbackNames) origins.add(new URL(`${scheme}://${name}:${config.port}`).origin)
  }
  return origins
}
