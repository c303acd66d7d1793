import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { githubNamespaces, gitlabNamespaces, registryTypes } from './enums.ts'
import { limits } from './limits.ts'
import { Description, Icon, Id, Name, Timestamp } from './shapes.ts'

const url = z.string().trim().min(1).max(limits.url.max)
const imageNamePrefix = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((value) => !value.startsWith('-'), 'A name does not start with a dash')
/** Sent only for a change: if absent, an update keeps the stored values; `public: true` deletes them. */
const credentials = { user: z.string().trim().min(1).max(255).nullish(), token: z.string().min(1).max(8_192).nullish() }

export const HubDetailsWrite = z.object({ imageNamePrefix, public: z.boolean(), ...credentials })
export const V2DetailsWrite = z.object({
  url,
  imageNamePrefix: imageNamePrefix.or(z.literal('')).nullish(),
  public: z.boolean(),
  ...credentials,
})
export const GitlabDetailsWrite = z.object({
  /** The path of the group or project; images have it in their name. */
  imageNamePrefix,
  namespace: z.enum(gitlabNamespaces),
  /** The registry of a self-managed instance, whose address is then in `apiUrl`. */
  url: url.or(z.literal('')).nullish(),
  apiUrl: url.or(z.literal('')).nullish(),
  ...credentials,
})
export const GithubDetailsWrite = z.object({
  imageNamePrefix,
  namespace: z.enum(githubNamespaces),
  ...credentials,
})
export const GoogleDetailsWrite = z.object({
  /** A host of Container Registry or Artifact Registry. */
  url,
  /** The project; for Artifact Registry with the repository, such as `project/repository`. */
  imageNamePrefix,
  public: z.boolean(),
  /** `user` is the address of a service account, `token` its private key (PEM). */
  ...credentials,
})
export const UncheckedDetailsWrite = z.object({
  url: z.string().trim().max(limits.url.max).default(''),
  local: z.boolean().default(false),
  public: z.boolean().default(true),
  ...credentials,
})
const base = { name: Name, description: Description, icon: Icon }
export const RegistryWrite = z.discriminatedUnion('type', [
  z.object({ ...base, type: z.literal('hub'), details: HubDetailsWrite }),
  z.object({ ...base, type: z.literal('v2'), details: V2DetailsWrite }),
  z.object({ ...base, type: z.literal('gitlab'), details: GitlabDetailsWrite }),
  z.object({ ...base, type: z.literal('github'), details: GithubDetailsWrite }),
  z.object({ ...base, type: z.literal('google'), details: GoogleDetailsWrite }),
  z.object({ ...base, type: z.literal('unchecked'), details: UncheckedDetailsWrite }),
])
export type RegistryWrite = z.output<typeof RegistryWrite>

export const Registry = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(registryTypes),
  url: z.string(),
  description: z.string().nullish(),
  icon: Icon,
  /** Prepended to the name of an image to show its source. */
  imageUrlPrefix: z.string(),
})
export const RegistryToken = z.object({
  id: Id,
  createdAt: Timestamp,
  /** The name of the creator. */
  createdBy: z.string().nullish(),
  expiresAt: Timestamp.nullish(),
})
/** Never contains a credential: `hasCredentials` tells whether there is one. */
export const RegistryDetails = Registry.omit({ url: true, imageUrlPrefix: true }).extend({
  url: z.string(),
  imageUrlPrefix: z.string(),
  inUse: z.boolean(),
  /** The token with which the registry reports pushes. */
  registryToken: RegistryToken.nullish(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  details: z.object({
    url: z.string().nullish(),
    /** For gitlab: the address of a self-managed instance. */
    apiUrl: z.string().nullish(),
    imageNamePrefix: z.string().nullish(),
    namespace: z.enum([...gitlabNamespaces, ...githubNamespaces]).nullish(),
    public: z.boolean().nullish(),
    local: z.boolean().nullish(),
    user: z.string().nullish(),
    hasCredentials: z.boolean(),
  }),
})
export const RegistryTokenWrite = z.object({
  /** Absent or null: never expires. */
  expirationInDays: z.int().min(1).max(3_650).nullish(),
})
export const RegistryTokenCreated = RegistryToken.extend({
  token: z.string(),
  /** The `notifications` section of a distribution registry's configuration, ready to be pasted. */
  config: z.string(),
})
export const registryEndpoints = endpoints({
  'registries.list': {
    summary: 'List the registries of a team',
    route: 'GET /api/:teamSlug/registries',
    response: z.array(Registry),
    permission: 'registries.read',
  },
  'registries.get': {
    summary: 'Get a registry',
    route: 'GET /api/:teamSlug/registries/:registryId',
    response: RegistryDetails,
    permission: 'registries.read',
  },
  'registries.create': {
    summary: 'Create a registry',
    route: 'POST /api/:teamSlug/registries',
    body: RegistryWrite,
    status: 201,
    response: RegistryDetails,
    errors: ['alreadyExists', 'registryUnauthorized', 'registryRateLimit'],
    permission: 'registries.edit',
    audit: 'registry',
    auditBody: false,
  },
  'registries.update': {
    summary: 'Update a registry',
    route: 'PUT /api/:teamSlug/registries/:registryId',
    body: RegistryWrite,
    errors: ['alreadyExists', 'registryUnauthorized', 'registryRateLimit'],
    permission: 'registries.edit',
    audit: 'registry',
    auditBody: false,
  },
  'registries.delete': {
    summary: 'Delete a registry that no image uses',
    route: 'DELETE /api/:teamSlug/registries/:registryId',
    errors: ['preconditionFailed'],
    permission: 'registries.edit',
    audit: 'registry',
  },
  'registries.create-token': {
    summary: 'Create the token for push events of a registry; its text is returned once',
    route: 'PUT /api/:teamSlug/registries/:registryId/token',
    body: RegistryTokenWrite,
    status: 201,
    location: 'part',
    response: RegistryTokenCreated,
    errors: ['alreadyExists'],
    permission: 'registries.edit',
    audit: 'registry-token',
    token: 'never',
  },
  'registries.delete-token': {
    summary: "Revoke the registry's token",
    route: 'DELETE /api/:teamSlug/registries/:registryId/token',
    permission: 'registries.edit',
    audit: 'registry-token',
    token: 'never',
  },
})
