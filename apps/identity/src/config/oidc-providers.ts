import { isLoopbackUrl } from '@crux/service-kit'
import { z } from 'zod'

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

const url = z
  .url({ protocol: /^https?$/ })
  .refine((value) => value.startsWith('https:') || isLoopbackUrl(value), 'must be https')
  .transform((value) => value.replace(/\/+$/, ''))
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
  OIDC_PROVIDERS: z
    .string()
    .default('[]')
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message: 'is not JSON' })
        return z.NEVER
      }
    })
    .pipe(z.array(Listed))
    .meta({ example }),
}

type Settings = z.output<z.ZodObject<typeof oidcSettings>>

/** The configured providers, in the order of the form. */
export function readProviders(settings: Settings): ProviderSettings[] {
  const known: (ProviderSettings | undefined)[] = [
    named(settings.OIDC_GOOGLE_CLIENT_ID, settings.OIDC_GOOGLE_CLIENT_SECRET, {
      id: 'google',
      label: 'Google',
      url: 'https://accounts.google.com',
    }),
    named(settings.OIDC_GITLAB_CLIENT_ID, settings.OIDC_GITLAB_CLIENT_SECRET, {
      id: 'gitlab',
      label: 'GitLab',
      url: settings.OIDC_GITLAB_URL,
    }),
    named(settings.OIDC_GITHUB_CLIENT_ID, settings.OIDC_GITHUB_CLIENT_SECRET, {
      id: 'github',
      label: 'GitHub',
      kind: 'github',
      url: settings.OIDC_GITHUB_URL,
      scope: 'read:user user:email',
    }),
    named(settings.OIDC_AZURE_CLIENT_ID, settings.OIDC_AZURE_CLIENT_SECRET, {
      id: 'azure',
      label: 'Microsoft',
      url: `https://login.microsoftonline.com/${settings.OIDC_AZURE_TENANT}/v2.0`,
      // Administrators of any tenant can enter any address into the profiles of their users.
      verifiesEmail: false,
    }),
  ]
  const listed = settings.OIDC_PROVIDERS.map(
    ({ issuer, label, ...provider }): ProviderSettings => ({
      ...provider,
      kind: 'oidc',
      label: label ?? provider.id,
      url: issuer,
    }),
  )
  return [...known.filter((provider) => provider !== undefined), ...listed]
}

/** The first problem of the settings in combination: variable and description. */
export function providersProblem(settings: Settings): { variable: string; problem: string } | undefined {
  for (const name of ['GOOGLE', 'GITLAB', 'GITHUB', 'AZURE'] as const) {
    const clientId = settings[`OIDC_${name}_CLIENT_ID`]
    const clientSecret = settings[`OIDC_${name}_CLIENT_SECRET`]
    if (clientId !== undefined && clientSecret === undefined)
      return { variable: `OIDC_${name}_CLIENT_SECRET`, problem: `is missing beside OIDC_${name}_CLIENT_ID` }
    if (clientId === undefined && clientSecret !== undefined)
      return { variable: `OIDC_${name}_CLIENT_ID`, problem: `is missing beside OIDC_${name}_CLIENT_SECRET` }
  }
  const ids = readProviders(settings).map((provider) => provider.id)
  const twice = ids.find((own, index) => ids.indexOf(own) !== index)
  return twice === undefined ? undefined : { variable: 'OIDC_PROVIDERS', problem: `has the id ${twice} twice` }
}

function named(
  clientId: string | undefined,
  clientSecret: string | undefined,
  about: Pick<ProviderSettings, 'id' | 'label' | 'url'> & Partial<ProviderSettings>,
): ProviderSettings | undefined {
  if (clientId === undefined || clientSecret === undefined) return undefined
  return { kind: 'oidc', scope: 'openid email profile', verifiesEmail: true, ...about, clientId, clientSecret }
}
