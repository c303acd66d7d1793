import { z } from 'zod'
import { jsonSetting, secureUrl } from './setting-types.ts'

/** An identity provider as an administrator configures it. */
export interface ProviderSettings {
  /** Part of the callback address and of stored links, so it must not change. */
  id: string
  kind: 'oidc' | 'github'
  label: string
  clientId: string
  clientSecret: string
  /** The issuer; for GitHub the address of its website. */
  url: string
  scope: string
  /** Whether an address that the provider marks as verified is trusted. */
  verifiesEmail: boolean
}

const url = secureUrl.transform((value) => value.replace(/\/+$/, ''))
const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits, dashes and underscores')

const Listed = z.strictObject({
  id,
  label: z.string().min(1).max(50).optional(),
  issuer: url,
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
  scope: z.string().default('openid email profile'),
  /** Off for providers whose users can enter any address into their profile. */
  verifiesEmail: z.boolean().default(true),
})

const example = '[{"id":"corp","label":"Corp","issuer":"https://id.example.com","clientId":"…","clientSecret":"…"}]'

/** The settings of all providers, as part of the settings of the service. Each can also be given as NAME_FILE. */
export const oidcSettings = {
  OIDC_GOOGLE_CLIENT_ID: z.string().optional().meta({ example: '123.apps.googleusercontent.com' }),
  OIDC_GOOGLE_CLIENT_SECRET: z.string().optional().meta({ example: 'what Google shows beside it' }),
  OIDC_GITLAB_CLIENT_ID: z.string().optional().meta({ example: 'the application id' }),
  OIDC_GITLAB_CLIENT_SECRET: z.string().optional().meta({ example: 'what GitLab shows beside it' }),
  OIDC_GITLAB_URL: url.default('https://gitlab.com').meta({ example: 'https://gitlab.example.com' }),
  OIDC_GITHUB_CLIENT_ID: z.string().optional().meta({ example: 'Iv1.0123456789abcdef' }),
  OIDC_GITHUB_CLIENT_SECRET: z.string().optional().meta({ example: 'what GitHub shows beside it' }),
  OIDC_GITHUB_URL: url.default('https://github.com').meta({ example: 'https://github.example.com' }),
  OIDC_AZURE_CLIENT_ID: z.string().optional().meta({ example: 'the application (client) id' }),
  OIDC_AZURE_CLIENT_SECRET: z.string().optional().meta({ example: 'the value of a client secret' }),
  OIDC_AZURE_TENANT: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('organizations')
    .meta({ example: 'the directory (tenant) id' }),
  OIDC_PROVIDERS: jsonSetting(z.array(Listed), '[]').meta({ example }),
}

type Settings = z.output<z.ZodObject<typeof oidcSettings>>

/** The configured providers, in the order of the form. */
export function readProviders(settings: Settings): ProviderSettings[] {
  const known = [
    { name: 'GOOGLE', id: 'google', label: 'Google', url: 'https://accounts.google.com' },
    { name: 'GITLAB', id: 'gitlab', label: 'GitLab', url: settings.OIDC_GITLAB_URL },
    {
      name: 'GITHUB',
      id: 'github',
      label: 'GitHub',
      kind: 'github',
      url: settings.OIDC_GITHUB_URL,
      scope: 'read:user user:email',
    },
    {
      name: 'AZURE',
      id: 'azure',
      label: 'Microsoft',
      url: `https://login.microsoftonline.com/${settings.OIDC_AZURE_TENANT}/v2.0`,
      // Administrators of any tenant can enter any address into the profiles of their users.
      verifiesEmail: false,
    },
  ] as const
  const configured = known.flatMap(({ name, ...about }): ProviderSettings[] => {
    const clientId = settings[`OIDC_${name}_CLIENT_ID`]
    const clientSecret = settings[`OIDC_${name}_CLIENT_SECRET`]
    if (clientId === undefined || clientSecret === undefined) return []
    return [{ kind: 'oidc', scope: 'openid email profile', verifiesEmail: true, ...about, clientId, clientSecret }]
  })
  const listed = settings.OIDC_PROVIDERS.map(
    ({ issuer: url, label, ...provider }): ProviderSettings => ({
      ...provider,
      kind: 'oidc',
      label: label ?? provider.id,
      url,
    }),
  )
  return [...configured, ...listed]
}

/** The first problem of the settings in combination: variable and description. */
export function providersProblem(settings: Settings): { variable: string; problem: string } | undefined {
  for (const name of ['GOOGLE', 'GITLAB', 'GITHUB', 'AZURE'] as const) {
    const pair = [`OIDC_${name}_CLIENT_ID`, `OIDC_${name}_CLIENT_SECRET`] as const
    const missing = pair.filter((variable) => settings[variable] === undefined)
    const [variable] = missing
    if (variable && missing.length === 1)
      return { variable, problem: `is missing beside ${pair.find((other) => other !== variable)}` }
  }
  const ids = readProviders(settings).map((provider) => provider.id)
  const twice = ids.find((own, index) => ids.indexOf(own) !== index)
  return twice === undefined ? undefined : { variable: 'OIDC_PROVIDERS', problem: `has the id ${twice} twice` }
}
