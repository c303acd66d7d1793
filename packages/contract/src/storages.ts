import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { limits } from './limits.ts'
import { Description, Icon, Id, Name, Timestamp } from './shapes.ts'

/** An S3 server from which files are imported into a volume before a container starts. */
export const Storage = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullish(),
  icon: Icon,
  url: z.string(),
})
export type Storage = z.output<typeof Storage>
/** Never contains a key: `public` means that there is none. */
export const StorageDetails = Storage.extend({
  public: z.boolean(),
  /** A configuration imports from it, so it cannot be deleted. */
  inUse: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export const StorageWrite = z.object({
  name: Name,
  description: Description,
  icon: Icon,
  url: z.string().trim().min(1).max(limits.url.max),
  public: z.boolean().default(false),
  /** Sent only for a change: if absent, an update keeps the stored keys; `public: true` deletes them. */
  accessKey: z.string().min(1).max(1_024).nullish(),
  secretKey: z.string().min(1).max(1_024).nullish(),
})
export type StorageWrite = z.output<typeof StorageWrite>
export const StorageCheck = z.object({
  reachable: z.boolean(),
  /** The reason for the failure, as a sentence. */
  reason: z.string().nullish(),
  /** Names of the buckets, if the keys may list them. */
  buckets: z.array(z.string()).nullish(),
})
const storages = '/api/:teamSlug/storages' as const

export const storageEndpoints = endpoints({
  'storages.list': {
    summary: 'List the storages of a team',
    route: `GET ${storages}`,
    response: z.array(Storage),
    permission: 'storages.read',
  },
  'storages.options': {
    summary: 'List storages by name, to choose one',
    route: `GET ${storages}/options`,
    response: z.array(z.object({ id: Id, name: z.string() })),
    permission: 'storages.read',
  },
  'storages.get': {
    summary: 'Get a storage',
    route: `GET ${storages}/:storageId`,
    response: StorageDetails,
    permission: 'storages.read',
  },
  'storages.create': {
    summary: 'Create a storage',
    route: `POST ${storages}`,
    body: StorageWrite,
    status: 201,
    response: StorageDetails,
    errors: ['alreadyExists'],
    permission: 'storages.edit',
    audit: 'storage',
    auditBody: false,
  },
  'storages.update': {
    summary: 'Update a storage',
    route: `PUT ${storages}/:storageId`,
    body: StorageWrite,
    errors: ['alreadyExists'],
    permission: 'storages.edit',
    audit: 'storage',
    auditBody: false,
  },
  'storages.delete': {
    summary: 'Delete a storage that no configuration uses',
    route: `DELETE ${storages}/:storageId`,
    errors: ['preconditionFailed'],
    permission: 'storages.edit',
    audit: 'storage',
  },
  'storages.check': {
    summary: 'Check whether a storage answers, and list its buckets',
    route: `POST ${storages}/:storageId/check`,
    response: StorageCheck,
    permission: 'storages.read',
    audit: false,
    token: 'read',
  },
})
