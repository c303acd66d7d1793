import { z } from 'zod'
import { DeploymentPreview } from './deployments.ts'
import { endpoints } from './endpoint.ts'
import { deploymentStatuses, projectTypes, promotionStatuses, versionTypes } from './enums.ts'
import { limits, patterns } from './limits.ts'
import { Node } from './nodes.ts'
import { Audit, BasicUser, basic, Description, Icon, Id, Name, Page, Prefix, paginated, Timestamp } from './shapes.ts'

/** The versions that were increased from one another. Its id is that of its first version, also after that one was deleted. */
export const VersionChain = z.object({
  id: Id,
  /** The member that was increased from no other one that exists. */
  earliest: basic(versionTypes),
  /** The member that no other one was increased from. */
  latest: basic(versionTypes),
})
const PackageVersionChain = VersionChain.extend({ project: basic(projectTypes) })
export const PackageWrite = z.object({
  name: Name,
  description: Description,
  icon: Icon,
  /** Replaces the chains of the package; their order is that of the pages. */
  chainIds: z.array(Id).max(limits.packageChains),
})
const packageFields = { id: Id, name: z.string(), description: z.string().nullish(), icon: Icon }
/** Chains whose versions were all deleted; they are not in `versionChains`, because they have neither an earliest nor a latest version. */
const emptyChains = z.array(z.object({ id: Id, project: basic(projectTypes) })).optional()
export const Package = z.object({
  ...packageFields,
  versionChains: z.array(PackageVersionChain),
  environments: z.array(z.string()),
  emptyChains,
})
export const PackageEnvironment = z.object({
  id: Id,
  name: z.string(),
  node: Node,
  prefix: z.string(),
  /** Then only admins may move or delete it, because that would end the freeze. */
  hasFreezeWindows: z.boolean().optional(),
})
export const PackageDetails = z.object({
  ...packageFields,
  audit: Audit,
  versionChains: z.array(PackageVersionChain),
  emptyChains,
  /** In the order in which versions are promoted. */
  environments: z.array(PackageEnvironment),
})
export const EnvironmentName = z.string().trim().min(1).max(limits.name.max)
export const EnvironmentWrite = z.object({ name: EnvironmentName, nodeId: Id, prefix: Prefix })

const timeOfDay = z.string().regex(patterns.timeOfDay, 'Use a time such as 09:30')
const reason = z.string().trim().min(1).max(limits.freezeReason.max)
/** Times at which nothing may be deployed to an environment. */
export const FreezeWindowWrite = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('weekly'),
    reason,
    /** ISO days of the week: 1 is Monday. */
    days: z.array(z.int().min(1).max(7)).min(1).max(7),
    from: timeOfDay,
    /** At or before `from`: on the next day. */
    to: timeOfDay,
    /** An IANA time zone, such as `Europe/Budapest`. */
    timeZone: z.string().min(1).max(64),
  }),
  z.object({ kind: z.literal('once'), reason, from: Timestamp, to: Timestamp }),
])
export type FreezeWindowWrite = z.output<typeof FreezeWindowWrite>
export const FreezeWindow = z.intersection(
  FreezeWindowWrite,
  z.object({ id: Id, createdBy: z.string().nullish(), createdAt: Timestamp }),
)
export type FreezeWindow = z.output<typeof FreezeWindow>
/** Why nothing may be deployed now, and until when. */
const Freeze = z.object({
  reason: z.string(),
  until: Timestamp,
  /** The windows follow one another without an end that is known; `until` is as far as was looked. */
  openEnded: z.boolean().optional(),
})

const ChainDeployment = z.object({
  id: Id,
  prefix: z.string(),
  protected: z.boolean(),
  status: z.enum(deploymentStatuses),
  audit: Audit,
})
const RunningVersion = z.object({
  version: basic(versionTypes),
  deploymentId: Id,
  releaseNumber: z.int(),
  deployedAt: Timestamp,
  deployedBy: z.string(),
})
export const EnvironmentDetails = z.object({
  id: Id,
  name: z.string(),
  prefix: z.string(),
  node: Node,
  package: z.object({ id: Id, name: z.string() }),
  versionChains: z.array(
    z.object({
      chainId: Id,
      project: basic(projectTypes),
      /** In the order of their parents: the earliest first. */
      versions: z.array(
        z.object({
          id: Id,
          name: z.string(),
          deployment: ChainDeployment.nullish(),
          type: z.enum(versionTypes).optional(),
        }),
      ),
      /** The version whose containers run in this environment, if it belongs to the chain. */
      running: RunningVersion.nullish(),
    }),
  ),
  freezeWindows: z.array(FreezeWindow).optional(),
  freeze: Freeze.nullish(),
})

/** One project in one environment. */
export const BoardCell = z.object({
  environmentId: Id,
  /** The version whose containers run. */
  running: RunningVersion.nullish(),
  /** The deployment of the chain that changed last, if it is not the one that runs successfully: in preparation, in progress or failed. */
  latest: z
    .object({
      deploymentId: Id,
      version: basic(versionTypes),
      status: z.enum(deploymentStatuses),
      outcome: z.string().nullish(),
      updatedAt: Timestamp,
    })
    .nullish(),
  /** The later version of the chain that runs in the environment before this one. */
  newerBefore: basic(versionTypes).nullish(),
})
export const PackageBoard = z.object({
  environments: z.array(
    z.object({ id: Id, name: z.string(), prefix: z.string(), node: Node, freeze: Freeze.nullish() }),
  ),
  projects: z.array(
    z.object({
      chainId: Id,
      project: basic(projectTypes),
      /** Absent where all versions of the chain were deleted. */
      latest: basic(versionTypes).nullish(),
      cells: z.array(BoardCell),
    }),
  ),
})

export const EnvironmentDeploymentCreate = z.object({ versionId: Id, note: Description })
/** What a promotion would do. Nothing is stored. */
export const PromotionPreview = z.object({
  /** The deployment whose configuration is copied; absent: the configuration is that of the images. */
  source: z.object({ deploymentId: Id, version: basic(versionTypes) }).nullish(),
  /** The deployment of this version that is there already, and is started as it is. */
  deploymentId: Id.nullish(),
  /** Images of the version without a match in the source. */
  unmatched: z.array(z.object({ name: z.string() })),
  freeze: Freeze.nullish(),
  preview: DeploymentPreview,
})
export const PromotionCreate = z.object({
  versionId: Id,
  note: Description,
  /** The environment that the version was promoted from, for the history. */
  fromEnvironmentId: Id.nullish(),
  /** `preview.hash` of the preview that the user saw: 412 when the configuration has changed since then. */
  expectedHash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'A hash has 64 hexadecimal digits')
    .optional(),
  ignoreProtected: z.boolean().optional(),
  /** Why an admin deploys during a freeze window. */
  overrideFreeze: z.string().trim().min(1).max(limits.freezeReason.max).nullish(),
})
export const Promotion = z.object({
  id: Id,
  createdAt: Timestamp,
  createdBy: BasicUser,
  version: z.object({ id: Id.nullish(), name: z.string() }),
  project: z.object({ id: Id.nullish(), name: z.string() }),
  from: z.object({ id: Id.nullish(), name: z.string() }).nullish(),
  note: z.string().nullish(),
  /** Absent when the deployment was deleted. */
  deploymentId: Id.nullish(),
  releaseNumber: z.int(),
  status: z.enum(promotionStatuses),
  reason: z.string().nullish(),
  finishedAt: Timestamp.nullish(),
  /** The reason of an admin for deploying during a freeze window. */
  overrideFreeze: z.string().nullish(),
})

const packages = '/api/:teamSlug/packages' as const
const one = `${packages}/:packageId` as const
const environment = `${one}/environments/:environmentId` as const

export const packageEndpoints = endpoints({
  'projects.version-chains': {
    summary: 'List the version chains of a project',
    route: 'GET /api/:teamSlug/projects/:projectId/version-chains',
    response: z.array(VersionChain),
    permission: 'projects.read',
  },
  'packages.list': {
    summary: 'List the packages of a team',
    route: `GET ${packages}`,
    response: z.array(Package),
    permission: 'packages.read',
  },
  'packages.get': {
    summary: 'Get a package',
    route: `GET ${one}`,
    response: PackageDetails,
    permission: 'packages.read',
  },
  'packages.board': {
    summary: 'Get what runs of a package: its projects in its environments',
    route: `GET ${one}/board`,
    response: PackageBoard,
    permission: 'packages.read',
  },
  'packages.create': {
    summary: 'Create a package',
    route: `POST ${packages}`,
    body: PackageWrite,
    status: 201,
    response: PackageDetails,
    errors: ['alreadyExists'],
    permission: 'packages.edit',
    audit: 'package',
  },
  'packages.update': {
    summary: 'Update a package',
    route: `PUT ${one}`,
    body: PackageWrite,
    errors: ['alreadyExists'],
    permission: 'packages.edit',
    audit: 'package',
  },
  'packages.delete': {
    summary: 'Delete a package; deployments and containers stay',
    route: `DELETE ${one}`,
    permission: 'packages.edit',
    audit: 'package',
  },
  'packages.create-environment': {
    summary: 'Create an environment of a package',
    route: `POST ${one}/environments`,
    body: EnvironmentWrite,
    status: 201,
    response: PackageEnvironment,
    errors: ['alreadyExists'],
    permission: 'packages.edit',
    audit: 'package-environment',
  },
  'packages.order-environments': {
    summary: 'Reorder the environments of a package',
    route: `PUT ${one}/environments/order`,
    body: z.array(Id).min(1).max(limits.packageEnvironments),
    permission: 'packages.edit',
    audit: 'package-environment',
  },
  'packages.get-environment': {
    summary: 'Get an environment with the deployments of the versions of its chains',
    route: `GET ${environment}`,
    response: EnvironmentDetails,
    permission: 'packages.read',
  },
  'packages.update-environment': {
    summary: 'Update an environment',
    route: `PUT ${environment}`,
    body: EnvironmentWrite,
    errors: ['alreadyExists'],
    permission: 'packages.edit',
    audit: 'package-environment',
  },
  'packages.delete-environment': {
    summary: 'Delete an environment; deployments and containers stay',
    route: `DELETE ${environment}`,
    permission: 'packages.edit',
    audit: 'package-environment',
  },
  'packages.create-deployment': {
    summary: 'Create the deployment of a version in an environment, without starting it',
    route: `POST ${environment}/deployments`,
    body: EnvironmentDeploymentCreate,
    status: 201,
    location: 'deployment',
    response: ChainDeployment,
    errors: ['alreadyExists', 'alreadyHavePreparing', 'preconditionFailed'],
    permission: 'deployments.edit',
    audit: 'deployment',
    token: 'deploy',
  },
  'packages.promotions': {
    summary: 'List the promotions to an environment, newest first',
    route: `GET ${environment}/promotions`,
    query: Page,
    response: paginated(Promotion),
    permission: 'packages.read',
  },
  'packages.preview-promotion': {
    summary: 'Preview the promotion of a version to an environment',
    route: `GET ${environment}/promotions/preview`,
    query: z.object({ versionId: Id }),
    response: PromotionPreview,
    errors: ['preconditionFailed'],
    permission: 'deployments.read',
  },
  'packages.promote': {
    summary: 'Promote a version to an environment: create its deployment, and start it',
    route: `POST ${environment}/promotions`,
    body: PromotionCreate,
    status: 201,
    response: Promotion,
    errors: ['alreadyExists', 'preconditionFailed', 'keysAreUnique', 'containerNameAreUnique'],
    permission: 'deployments.start',
    audit: 'promotion',
    token: 'deploy',
  },
  'packages.create-freeze-window': {
    summary: 'Create a freeze window of an environment',
    route: `POST ${environment}/freeze-windows`,
    body: FreezeWindowWrite,
    status: 201,
    response: FreezeWindow,
    permission: 'packages.freeze',
    audit: 'freeze-window',
  },
  'packages.update-freeze-window': {
    summary: 'Update a freeze window',
    route: `PUT ${environment}/freeze-windows/:windowId`,
    body: FreezeWindowWrite,
    permission: 'packages.freeze',
    audit: 'freeze-window',
  },
  'packages.delete-freeze-window': {
    summary: 'Delete a freeze window',
    route: `DELETE ${environment}/freeze-windows/:windowId`,
    permission: 'packages.freeze',
    audit: 'freeze-window',
  },
})
