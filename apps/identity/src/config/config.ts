import { isLoopbackHost, isLoopbackUrl, outboundAllow, trustedProxies } from '@crux/service-kit'
import { z } from 'zod'
import { captchaProblem, captchaSettings } from './captcha.ts'
import { oidcSettings, providersProblem } from './oidc-providers.ts'
import { toSeconds } from './setting-types.ts'
import { tokenTemplates } from './token-templates.ts'

const httpUrl = z
  .url({ protocol: /^https?$/ })
  .transform((value) => value.replace(/\/+$/, ''))
  .meta({ example: 'http://localhost:8000' })

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback)
const flag = z.stringbool().default(false).meta({ example: 'false' })

/** A count per duration, for example "10/10m". */
const limit = (fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,5}\/[1-9]\d{0,3}[smh]$/, 'must be a number and a time, such as 10/10m')
    .default(fallback)
    .transform((text) => {
      const [max = '', time = ''] = text.split('/')
      return { max: Number(max), windowSeconds: toSeconds(time) }
    })
    .meta({ example: fallback })

/** All settings of the identity service. Each can also be given as NAME_FILE (Docker secrets). */
export const identitySettings = z
  .object({
    DATABASE_URL: z
      .string()
      .regex(/^postgres(ql)?:/)
      .meta({ example: 'postgresql://crux@localhost/crux' }),
    CRUX_URL: httpUrl,
    CRUX_SECRET: z.string().min(16).meta({ example: 'a random text of at least 16 characters' }),
    IDENTITY_HOST: z.string().default('127.0.0.1').meta({ example: '127.0.0.1' }),
    /** The address at which the server in front of this service listens. */
    CRUX_HOST: z.string().default('127.0.0.1').meta({ example: '127.0.0.1' }),
    IDENTITY_PUBLIC_PORT: port(4433).meta({ example: 4433 }),
    IDENTITY_ADMIN_PORT: port(4434).meta({ example: 4434 }),
    /** The secret with which the Crux server authenticates at the public port. */
    IDENTITY_PROXY_SECRET: z.string().min(16).optional().meta({ example: 'a random text of at least 16 characters' }),
    IDENTITY_ADMIN_TOKEN: z.string().min(16).meta({ example: 'a random text of at least 16 characters' }),
    SMTP_URI: z
      .url({ protocol: /^smtps?$/ })
      .optional()
      .meta({ example: 'smtp://user:password@mail.example.com:587' }),
    FROM_EMAIL: z.email().optional().meta({ example: 'crux@example.com' }),
    FROM_NAME: z.string().max(100).default('Crux').meta({ example: 'Crux' }),
    /** The directory that stores mails while SMTP_URI is not set. Without either, no mail is sent. */
    CRUX_MAILS_DIR: z.string().optional().meta({ example: '/var/lib/crux/mails' }),
    CRUX_RATE_LIMITS: z.enum(['on', 'off']).default('on').meta({ example: 'on' }),
    RATE_LIMIT_ACCOUNT: limit('10/10m'),
    RATE_LIMIT_ACCOUNT_TOTAL: limit('100/1h'),
    RATE_LIMIT_CODES: limit('50/24h'),
    RATE_LIMIT_CLIENT: limit('100/10m'),
    RATE_LIMIT_RESEND: limit('1/30s'),
    RATE_LIMIT_MAILS: limit('30/1h'),
    /** The number of failed sign-ins with an address after which the next one requires the captcha, if one is configured. */
    RATE_LIMIT_CAPTCHA: limit('3/10m'),
    DISABLE_REGISTRATION: flag,
    TRUSTED_PROXIES: trustedProxies.default([]),
    LOG_LEVEL: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .meta({ example: 'info' }),
    /** The private networks that issuers may be in. All are allowed while Crux itself is on loopback. */
    OUTBOUND_ALLOW: outboundAllow.optional(),
    /** The templates that `whoami?tokenize_as=NAME` can use. */
    WHOAMI_TOKENS: tokenTemplates,
    ...captchaSettings,
    ...oidcSettings,
  })
  .refine(
    (read) => read.CRUX_RATE_LIMITS === 'on' || (isLoopbackHost(read.IDENTITY_HOST) && isLoopbackUrl(read.CRUX_URL)),
    { path: ['CRUX_RATE_LIMITS'], message: 'it may be off only while IDENTITY_HOST and CRUX_URL are on loopback' },
  )
  .superRefine((read, context) => {
    const problem = captchaProblem(read) ?? providersProblem(read)
    if (problem) context.addIssue({ code: 'custom', path: [problem.variable], message: problem.problem })
  })

export type IdentityConfig = z.output<typeof identitySettings>
/** The input of a caller; every setting with a default can be omitted. */
export type IdentityConfigInput = z.input<typeof identitySettings>

/**
 * Whether typed e-mail addresses count as verified. Without a mail server they cannot be proven, and while the service accepts no connections from
 * other machines, the user who types them owns this machine.
 */
export const assumesAddresses = (config: IdentityConfig): boolean =>
  config.SMTP_URI === undefined &&
  isLoopbackHost(config.IDENTITY_HOST) &&
  isLoopbackHost(config.CRUX_HOST) &&
  isLoopbackUrl(config.CRUX_URL)
