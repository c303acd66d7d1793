import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { deliveryResults, hookKinds } from './enums.ts'
import { Id, Timestamp } from './shapes.ts'

/** The body that a registry of the distribution project posts; fields that are not listed are ignored. */
export const RegistryEvents = z.object({
  events: z
    .array(
      z.object({
        id: z.string().max(255).optional(),
        action: z.enum(['push', 'pull', 'mount', 'delete']),
        target: z.object({
          repository: z.string().min(1).max(255),
          tag: z.string().max(128).optional(),
          digest: z.string().max(255).optional(),
        }),
        request: z.object({ useragent: z.string().max(1_024).optional() }).optional(),
      }),
    )
    .max(1_000),
})
/** An event of a foreign service. Its format is not ours to prescribe: an event that Crux does not know is accepted and listed. */
export const ForeignEvent = z.record(z.string(), z.unknown())

export const RegistryHook = z.object({
  kind: z.enum(hookKinds),
  createdAt: Timestamp,
  /** The name of the creator. */
  createdBy: z.string().nullish(),
})
export const HookSecretCreated = RegistryHook.extend({
  /** The address for the form of the service. That of Docker Hub contains the secret. */
  url: z.string(),
  secret: z.string(),
})
export const HookDelivery = z.object({
  id: Id,
  kind: z.enum(hookKinds),
  /** The event as the service names it, such as `push` or `package.published`. */
  event: z.string(),
  receivedAt: Timestamp,
  images: z.array(z.object({ name: z.string(), tag: z.string().nullish(), digest: z.string().nullish() })),
  result: z.enum(deliveryResults),
  /** The releases that following started with the digest that it led to. */
  releases: z.array(z.object({ deploymentId: Id, number: z.int().nullish() })).optional(),
})

export const registryHookEndpoints = endpoints({
  'registries.list-hooks': {
    summary: 'List the hooks of a registry that have a secret',
    route: 'GET /api/:teamSlug/registries/:registryId/hooks',
    response: z.array(RegistryHook),
    permission: 'registries.read',
  },
  'registries.list-deliveries': {
    summary: "List the last 100 deliveries of a registry's hooks, newest first",
    route: 'GET /api/:teamSlug/registries/:registryId/hooks/deliveries',
    response: z.array(HookDelivery),
    permission: 'registries.read',
  },
  'registries.create-hook-secret': {
    summary: 'Create the secret of a hook; its text is returned once',
    route: 'PUT /api/:teamSlug/registries/:registryId/hooks/:kind/secret',
    status: 201,
    location: 'part',
    response: HookSecretCreated,
    errors: ['alreadyExists'],
    permission: 'registries.edit',
    audit: 'registry-hook',
    token: 'never',
  },
  'registries.delete-hook-secret': {
    summary: 'Delete the secret of a hook',
    route: 'DELETE /api/:teamSlug/registries/:registryId/hooks/:kind/secret',
    permission: 'registries.edit',
    audit: 'registry-hook',
    token: 'never',
  },
  'registries.hook': {
    summary: 'Receive the notifications of a distribution registry',
    route: 'POST /api/:teamSlug/registries/:registryId/hooks/v2',
    body: RegistryEvents,
    permission: 'registry-hook',
    hook: 'v2',
    audit: false,
  },
  'registries.hook-github': {
    summary: 'Receive a webhook of GitHub Packages',
    route: 'POST /api/:teamSlug/registries/:registryId/hooks/github',
    body: ForeignEvent,
    permission: 'registry-hook',
    hook: 'github',
    audit: false,
  },
  'registries.hook-harbor': {
    summary: 'Receive a webhook of Harbor',
    route: 'POST /api/:teamSlug/registries/:registryId/hooks/harbor',
    body: ForeignEvent,
    permission: 'registry-hook',
    hook: 'harbor',
    audit: false,
  },
  'registries.hook-hub': {
    summary: 'Receive a webhook of Docker Hub, whose address contains the secret',
    route: 'POST /api/:teamSlug/registries/:registryId/hooks/hub/:secret',
    body: ForeignEvent,
    permission: 'registry-hook',
    hook: 'hub',
    audit: false,
  },
})
