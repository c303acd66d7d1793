import { z } from 'zod'
import { ConfigChange, ContainerConfig } from './container-configurations.ts'
import { DeploymentEvent } from './deployment-events.ts'
import { endpoints } from './endpoint.ts'
import {
  deploymentStatuses,
  followModes,
  nodeTypes,
  portProtocols,
  projectTypes,
  releaseTriggers,
  versionTypes,
} from './enums.ts'
import { LastRelease } from './last-release.ts'
import { limits } from './limits.ts'
import { Image } from './projects.ts'
import { Audit, basic, Description, Id, Name, Page, Prefix, paginated, Timestamp } from './shapes.ts'

export const DeploymentCreate = z.object({
  versionId: Id,
  nodeId: Id,
  prefix: Prefix,
  protected: z.boolean().default(false),
  note: Description,
})
/** `configBundles` is the complete list in the order of the page; if absent, the attached bundles are kept. */
export const DeploymentUpdate = z.object({
  note: Description,
  prefix: Prefix,
  protected: z.boolean(),
  configBundles: z.array(Id).max(50).optional(),
})
export const DeploymentCopy = z.object({ nodeId: Id, prefix: Prefix, note: Description })
export const DeploymentTokenWrite = z.object({
  name: Name,
  /** Absent or null: never expires. */
  expirationInDays: z.int().min(1).max(3_650).nullish(),
})
const DeploymentToken = z.object({
  id: Id,
  name: z.string(),
  createdAt: Timestamp,
  /** The name and id of the creator: an admin may revoke tokens of other users. */
  createdBy: z.string().nullish(),
  createdById: z.string().nullish(),
  expiresAt: Timestamp.nullish(),
})
export const DeploymentTokenCreated = DeploymentToken.extend({
  token: z.string(),
  /** A ready command that starts the deployment, waits and shows the outcome. */
  curl: z.string(),
})
const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'A hash has 64 hexadecimal digits')
export const DeploymentStart = z.object({
  instances: z.array(Id).max(500).optional(),
  recreate: z.boolean().optional(),
  /** The `hash` of the preview that the user saw: the start is refused with 412 when the configuration has changed since then. */
  expectedHash: Hash.optional(),
  /** Why an admin starts it during a freeze window of its environment. */
  overrideFreeze: z.string().trim().min(1).max(limits.freezeReason.max).nullish(),
})

export const ReleaseStart = DeploymentStart.pick({ overrideFreeze: true }).extend({
  /** Only for the release that runs: takes back what other programs have changed in the cluster since then. */
  takeBackFields: z.boolean().optional(),
})

/** The same selection before a start, as a query: ids separated by commas. Absent: all. */
export const DeploymentPreviewQuery = z.object({
  instances: z
    .string()
    .max(limits.previewInstances * 37)
    .transform((text) => text.split(','))
    .pipe(z.array(Id).max(limits.previewInstances))
    .optional(),
})

/** The status of the release that a start with `wait` created. */
export const DeploymentStarted = z.object({ status: z.enum(deploymentStatuses), reason: z.string().nullish() })

export const Deployment = z.object({
  id: Id,
  prefix: z.string(),
  protected: z.boolean(),
  status: z.enum(deploymentStatuses),
  note: z.string().nullish(),
  audit: Audit,
  node: basic(nodeTypes),
  project: basic(projectTypes),
  version: basic(versionTypes),
  ...LastRelease.shape,
  updatedByName: z.string().nullish(),
})
export type Deployment = z.output<typeof Deployment>
/** Following the tag of an instance's image: what is known of the tag, and what the server found wrong. */
export const Following = z.object({
  /** The user who switched it on, with whose rights releases start. */
  by: z.object({ id: z.string(), name: z.string() }).nullish(),
  /** Why the server changed `deploy` to `notify`, or why the last release did not start. */
  problem: z.string().nullish(),
  /** The last successful check of the tag. */
  checkedAt: Timestamp.nullish(),
  nextCheckAt: Timestamp.nullish(),
  /** Why the last check failed; absent after a successful one. */
  error: z.string().nullish(),
  /** Another digest of the tag than the one that runs, and when it was first seen. */
  pending: z.object({ digest: z.string(), since: Timestamp }).nullish(),
})
export const Instance = z.object({
  id: Id,
  updatedAt: Timestamp,
  image: Image,
  config: ContainerConfig,
  /** What a new digest of the image's tag leads to. */
  follow: z.enum(followModes).optional(),
  /** Absent while `follow` is `off`. */
  following: Following.nullish(),
})
/** A change of an instance: its configuration, and whether it follows the tag of its image. */
export const InstanceUpdate = ConfigChange.extend({ follow: z.enum(followModes).optional() })
export const DeploymentDetails = Deployment.extend({
  publicKey: z.string().nullish(),
  config: ContainerConfig,
  configBundles: z.array(
    z.object({ id: Id, name: z.string(), description: z.string().nullish(), configId: Id, config: ContainerConfig }),
  ),
  token: DeploymentToken.nullish(),
  lastTry: z.int(),
  instances: z.array(Instance),
  mutable: z.boolean(),
  deployable: z.boolean(),
  deletable: z.boolean(),
  copiable: z.boolean(),
  /** The current release of this project under this node and prefix, of any deployment. */
  running: z.object({ deploymentId: Id, number: z.int(), versionName: z.string(), startedAt: Timestamp }).nullish(),
})

export const Release = z.object({
  number: z.int(),
  status: z.enum(['in-progress', 'successful', 'failed']),
  startedAt: Timestamp,
  startedBy: z.object({ id: z.string(), name: z.string() }),
  /** `follow`: a new digest of a tag, which `triggerReason` names. Absent for releases of earlier versions of Crux. */
  trigger: z.enum(releaseTriggers).nullish(),
  triggerReason: z.string().nullish(),
  /** The reason of an admin for starting it during a freeze window. */
  overrideFreeze: z.string().nullish(),
  /** When the agent received the release, which was in the queue before. */
  dispatchedAt: Timestamp.nullish(),
  finishedAt: Timestamp.nullish(),
  versionName: z.string(),
  reason: z.string().nullish(),
  /** True: the containers of this release currently run on the node. */
  current: z.boolean(),
  /** Present when the log of the release was deleted: the retention in days, 0 when the server no longer deletes logs. */
  logRemovedAfterDays: z.int().optional(),
  instances: z.array(
    z.object({
      instanceId: z.string(),
      containerName: z.string(),
      imageName: z.string(),
      imageTag: z.string(),
      digest: z.string().nullish(),
    }),
  ),
})
/**
 * The effects of a start before it begins: which services have a downtime, what is kept and what is removed. Users see them first, because a start
 * can interrupt a service.
 */
export const DeploymentPreview = z.object({
  /** The hash of everything that the start would deploy, including secrets: the `expectedHash` of a start. */
  hash: z.string(),
  instances: z.array(
    z.object({
      instanceId: z.string(),
      containerName: z.string(),
      action: z.enum(['create', 'replace', 'replace-with-pause', 'keep']),
      reason: z.string().nullish(),
      changes: z.array(z.object({ property: z.string(), from: z.string().nullish(), to: z.string().nullish() })),
      /** Published ports that do not answer while the container is replaced, and the approximate duration. */
      silentPorts: z
        .array(
          z.object({
            port: z.int(),
            protocol: z.enum(portProtocols),
            milliseconds: z.int(),
            /** The maximum when the stopped container ignores its stop signal and is killed after its grace period. */
            maximumMilliseconds: z.int().optional(),
          }),
        )
        .optional(),
      /** Allowed settings with a notable effect: a renamed volume starts empty, a setting has no effect on this type of node. */
      warnings: z.array(z.object({ property: z.string(), description: z.string() })).optional(),
    }),
  ),
  /** Running containers that the start removes. A start of some instances does not affect the others. */
  removed: z.array(z.string()),
  problems: z.array(
    z.object({ property: z.string(), error: z.string(), description: z.string(), instanceId: z.string().nullish() }),
  ),
  /** Containers with access to the node itself. Tokens can start them only in the form that an admin confirmed by starting them. */
  hostDangerous: z
    .array(
      z.object({
        instanceId: z.string(),
        containerName: z.string(),
        dangers: z.array(z.object({ property: z.string(), value: z.string(), description: z.string() })),
        /** Whether exactly this configuration is confirmed. */
        confirmed: z.boolean(),
        /** The last confirmation, also of an earlier configuration; absent when there was none. */
        confirmation: z.object({ at: Timestamp, by: z.object({ id: z.string(), name: z.string() }) }).nullish(),
        /** The differences from the confirmed configuration. */
        changes: z.array(z.object({ property: z.string(), from: z.string().nullish(), to: z.string().nullish() })),
      }),
    )
    .optional(),
})
export const DeploymentListQuery = Page.extend({
  nodeId: Id.optional(),
  filter: z.string().max(255).optional(),
  status: z.enum(deploymentStatuses).optional(),
  configBundleId: Id.optional(),
})
/** Totals beside the list, so that the page needs no second request. */
export const DeploymentPage = paginated(Deployment).extend({ counts: z.record(z.string(), z.int()).optional() })

const deployments = '/api/:teamSlug/deployments' as const
const one = `${deployments}/:deploymentId` as const

export const deploymentEndpoints = endpoints({
  'deployments.list': {
    summary: 'List the deployments of a team, newest first',
    route: `GET ${deployments}`,
    query: DeploymentListQuery,
    response: DeploymentPage,
    permission: 'deployments.read',
  },
  'deployments.get': {
    summary: 'Get a deployment',
    route: `GET ${one}`,
    response: DeploymentDetails,
    permission: 'deployments.read',
  },
  'deployments.create': {
    summary: 'Create a deployment of a version for a node and prefix',
    route: `POST ${deployments}`,
    body: DeploymentCreate,
    status: 201,
    response: Deployment,
    errors: ['rollingVersionDeployment', 'alreadyHavePreparing', 'preconditionFailed'],
    permission: 'deployments.edit',
    audit: 'deployment',
    token: 'deploy',
  },
  'deployments.update': {
    summary: 'Update the note, the prefix or the protection of a deployment',
    route: `PUT ${one}`,
    body: DeploymentUpdate,
    errors: ['rollingVersionDeployment', 'alreadyHavePreparing', 'preconditionFailed'],
    permission: 'deployments.edit',
    audit: 'deployment',
  },
  'deployments.delete': {
    summary: 'Delete a deployment; with `containers=true` also its containers',
    route: `DELETE ${one}`,
    query: z.object({ containers: z.enum(['true', 'false']).optional() }),
    errors: ['preconditionFailed'],
    permission: 'deployments.edit',
    audit: 'deployment',
  },
  'deployments.start': {
    summary: 'Start a release',
    route: `POST ${one}/start`,
    query: z.object({
      ignoreProtected: z.string().optional(),
      /** Seconds to wait for the end: then 200 with `{status}`, or 202 with the status when the time is up. Absent: 204 at once. */
      wait: z.coerce.number().int().min(1).max(limits.startWaitSeconds).optional(),
    }),
    body: DeploymentStart.optional(),
    status: 204,
    response: DeploymentStarted.optional(),
    errors: ['preconditionFailed', 'alreadyExists', 'keysAreUnique', 'containerNameAreUnique'],
    permission: 'deployments.start',
    audit: 'deployment-start',
    token: 'deployment-token',
  },
  'deployments.preview': {
    summary: 'Preview what a start would change',
    route: `GET ${one}/preview`,
    query: DeploymentPreviewQuery,
    response: DeploymentPreview,
    permission: 'deployments.read',
  },
  'deployments.cancel': {
    summary: 'Cancel the release in progress',
    route: `POST ${one}/cancel`,
    errors: ['preconditionFailed'],
    permission: 'deployments.start',
    audit: 'deployment-cancel',
    token: 'deploy',
  },
  'deployments.copy': {
    summary: 'Copy a deployment to a node and prefix',
    route: `POST ${one}/copy`,
    body: DeploymentCopy,
    status: 201,
    location: 'sibling',
    response: Deployment,
    errors: ['alreadyExists', 'rollingVersionDeployment', 'alreadyHavePreparing', 'preconditionFailed'],
    permission: 'deployments.edit',
    audit: 'deployment',
    token: 'deploy',
  },
  'deployments.log': {
    summary: 'List the events of a deployment: newest page first, ascending within a page',
    route: `GET ${one}/log`,
    query: Page.extend({ try: z.coerce.number().int().min(1).max(limits.releaseNumber).optional() }),
    response: paginated(DeploymentEvent),
    permission: 'deployments.read',
  },
  'deployments.releases': {
    summary: 'List the releases of a deployment, newest first',
    route: `GET ${one}/releases`,
    response: z.array(Release),
    permission: 'deployments.read',
  },
  'deployments.start-release': {
    summary: 'Roll back: start an earlier release again with its digests',
    route: `POST ${one}/releases/:number/start`,
    query: z.object({ ignoreProtected: z.string().optional() }),
    body: ReleaseStart.optional(),
    errors: ['preconditionFailed', 'alreadyExists'],
    permission: 'deployments.start',
    audit: 'deployment-start',
    token: 'deploy',
  },
  'deployments.get-instance': {
    summary: 'Get an instance of a deployment',
    route: `GET ${one}/instances/:instanceId`,
    response: Instance,
    permission: 'deployments.read',
  },
  'deployments.update-instance': {
    summary: "Change an instance's configuration, or whether it follows the tag of its image",
    route: `PATCH ${one}/instances/:instanceId`,
    body: InstanceUpdate,
    configInput: true,
    errors: ['preconditionFailed', 'keysAreUnique'],
    permission: 'container-configurations.edit',
    audit: 'instance',
    auditBody: false,
  },
  'nodes.deployments': {
    summary: 'List the deployments on a node, newest first',
    route: 'GET /api/:teamSlug/nodes/:nodeId/deployments',
    response: z.array(Deployment),
    permission: 'deployments.read',
  },
  'deployments.create-token': {
    summary: 'Create the token that starts a deployment from outside; its text is returned once',
    route: `PUT ${one}/token`,
    body: DeploymentTokenWrite,
    status: 201,
    location: 'part',
    response: DeploymentTokenCreated,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'deployments.token',
    audit: 'deployment-token',
    token: 'never',
    recentSignIn: true,
  },
  'deployments.delete-token': {
    summary: "Revoke the deployment's token",
    route: `DELETE ${one}/token`,
    permission: 'deployments.token',
    audit: 'deployment-token',
    token: 'never',
  },
})
