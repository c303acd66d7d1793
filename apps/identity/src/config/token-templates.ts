import { z } from 'zod'

const reserved = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid']
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600 }

/** The claims of the tokens of `whoami?tokenize_as=NAME`. */
const Template = z.strictObject({
  /** The lifespan of a token, for example "10m"; never longer than its session. */
  ttl: z
    .string()
    .regex(/^\d{1,5}[smh]$/, 'must be a duration such as 10m')
    .default('10m')
    .transform((text) => Number(text.slice(0, -1)) * (unitSeconds[text.slice(-1)] ?? 0))
    .refine((seconds) => seconds >= 1 && seconds <= 24 * 3600, 'must be between 1s and 24h'),
  /** The service that accepts the token. */
  audience: z.string().min(1).optional(),
  /** Additional claims, by the path of their value in the session: `{"email": "identity.traits.email"}`. */
  claims: z
    .record(
      z.string().min(1),
      z.string().regex(/^[\w-]+(\.[\w-]+){0,7}$/, 'must be a path such as identity.traits.email'),
    )
    .default({})
    .refine(
      (claims) => !Object.keys(claims).some((name) => reserved.includes(name)),
      `must not be ${reserved.join(', ')}`,
    ),
})

const Templates = z.record(z.string().regex(/^[\w-]{1,64}$/), Template)

/** The templates as one setting; empty by default. */
export const tokenTemplates = z
  .string()
  .default('{}')
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text)
    } catch {
      context.addIssue({ code: 'custom', message: 'is not valid JSON' })
      return z.NEVER
    }
  })
  .pipe(Templates)
  .meta({ example: '{"api":{"ttl":"10m","claims":{"email":"identity.traits.email"}}}' })
