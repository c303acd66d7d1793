import { z } from 'zod'
import { jsonSetting, toSeconds } from './setting-types.ts'

const reserved = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sid']

/** The claims of the tokens of `whoami?tokenize_as=NAME`. */
const Template = z.strictObject({
  /** The lifespan of a token, for example "10m"; never longer than its session. */
  ttl: z
    .string()
    .regex(/^\d{1,5}[smh]$/, 'must be a duration such as 10m')
    .default('10m')
    .transform(toSeconds)
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
export const tokenTemplates = jsonSetting(Templates, '{}').meta({
  example: '{"api":{"ttl":"10m","claims":{"email":"identity.traits.email"}}}',
})
