/** The closed enumerations of the API. The order is that of the pages. */
export const teamRoles = ['owner', 'admin', 'user'] as const
export const memberStatuses = ['pending', 'verified', 'expired', 'declined'] as const
/** The rights of a token, within those of its holder: read; read and deploy; everything but managing tokens and members. */
export const tokenScopes = ['read', 'deploy', 'full'] as const
export const auditActorTypes = ['user', 'deployment-token', 'service-account'] as const
export const auditContexts = ['http', 'ws', 'rpc'] as const
export const auditMethods = ['get', 'post', 'put', 'patch', 'delete'] as const
export const projectTypes = ['versionless', 'versioned'] as const
export const versionTypes = ['incremental', 'rolling'] as const
export const registryTypes = ['v2', 'hub', 'gitlab', 'github', 'google', 'unchecked'] as const
export const gitlabNamespaces = ['group', 'project'] as const
export const githubNamespaces = ['organization', 'user'] as const
/** The services whose pushes a registry can report, each with a format and a verification of its own. */
export const hookKinds = ['v2', 'hub', 'github', 'harbor'] as const
/** The outcome of a delivery: it reported a change, it reported nothing that concerns the registry, or its event is not known. */
export const deliveryResults = ['accepted', 'ignored', 'unknown'] as const
export const nodeTypes = ['docker', 'k8s'] as const
/** Of an update of an agent that has not been completed. */
export const agentUpdateStates = ['preparing', 'ready', 'closed', 'failed'] as const
export const nodeStatuses = ['unreachable', 'connected', 'outdated', 'updating'] as const
export const nodeEventTypes = [
  'installed',
  'connected',
  'kicked',
  'left',
  'update',
  'containerCommand',
  'updateCompleted',
  'tokenReplaced',
] as const
export const scriptTypes = ['shell', 'powershell'] as const
export const deploymentStatuses = ['preparing', 'in-progress', 'successful', 'failed', 'obsolete'] as const
export const deploymentEventTypes = [
  'log',
  'deployment-status',
  'container-state',
  'container-progress',
  'phase',
] as const
export const deploymentPhases = ['resolve', 'pull', 'create', 'start', 'verify', 'swap', 'clean-up'] as const
export const phaseStates = ['waiting', 'running', 'done', 'skipped', 'failed'] as const
export const logLevels = ['info', 'warn', 'error'] as const
export const containerStates = ['running', 'waiting', 'exited', 'removed'] as const
export const containerOperations = ['start', 'stop', 'restart'] as const
export const containerConfigTypes = ['image', 'instance', 'deployment', 'config-bundle'] as const
export const networkModes = ['none', 'host', 'bridge'] as const
export const restartPolicies = ['no', 'always', 'onFailure', 'unlessStopped'] as const
export const exposeStrategies = ['none', 'expose', 'exposeWithTls'] as const
export const volumeTypes = ['ro', 'rwo', 'rwx', 'mem', 'tmp'] as const
export const logDrivers = [
  'nodeDefault',
  'none',
  'gcplogs',
  'local',
  'json-file',
  'syslog',
  'journald',
  'gelf',
  'fluentd',
  'awslogs',
  'splunk',
  'etwlogs',
  'logentries',
] as const
/** How the engine runs the test of a health check; `none` switches off the one of the image. */
export const healthCheckForms = ['shell', 'exec', 'none'] as const
export const deploymentStrategies = ['recreate', 'rolling'] as const
export const portProtocols = ['tcp', 'udp'] as const
export const proxyProtocols = ['v1', 'v2'] as const
export const ulimitNames = [
  'nofile',
  'nproc',
  'memlock',
  'stack',
  'core',
  'cpu',
  'data',
  'fsize',
  'locks',
  'msgqueue',
  'nice',
  'rss',
  'rtprio',
  'rttime',
  'sigpending',
] as const
export const icons = [
  'goat',
  'jellyfish',
  'kangaroo',
  'shark',
  'sloth',
  'buffalo',
  'cat',
  'llama',
  'bug',
  'shrimp',
  'donkey',
  'flamingo',
  'lion',
  'hedgehog',
  'giraffe',
  'penguin',
  'bat',
  'goose',
  'seal',
  'spider',
  'squirrel',
  'monkey',
  'gecko',
  'owl',
  'dog',
  'rhino',
  'bee',
  'dino',
  'sheep',
  'crow',
  'snail',
] as const

export type TeamRole = (typeof teamRoles)[number]
export type TokenScope = (typeof tokenScopes)[number]
export type AuditActorType = (typeof auditActorTypes)[number]
export type ProjectType = (typeof projectTypes)[number]
export type VersionType = (typeof versionTypes)[number]
export type RegistryType = (typeof registryTypes)[number]
export type HookKind = (typeof hookKinds)[number]
export type DeliveryResult = (typeof deliveryResults)[number]
export type NodeType = (typeof nodeTypes)[number]
export type NodeStatus = (typeof nodeStatuses)[number]
export type NodeEventType = (typeof nodeEventTypes)[number]
export type DeploymentStatus = (typeof deploymentStatuses)[number]
export type DeploymentPhase = (typeof deploymentPhases)[number]
export type PhaseState = (typeof phaseStates)[number]
export type ContainerState = (typeof containerStates)[number]
export type ContainerOperation = (typeof containerOperations)[number]
export type ContainerConfigType = (typeof containerConfigTypes)[number]
export type LogLevel = (typeof logLevels)[number]

/** What a new digest of a tag leads to: nothing, a notice, or a release. */
export const followModes = ['off', 'notify', 'deploy'] as const
export type PortProtocol = (typeof portProtocols)[number]
export type FollowMode = (typeof followModes)[number]
export const releaseTriggers = ['user', 'token', 'follow'] as const

export const pipelineTypes = ['azure', 'github', 'gitlab'] as const
export const pipelineStatuses = ['unknown', 'queued', 'running', 'successful', 'failed'] as const
export const pipelineRunCreators = ['user', 'eventWatcher'] as const
export const pipelineEvents = ['image-push', 'image-pull'] as const
/** `none`: the service was not asked for a hook, because this installation has no address that it could reach. */
export const pipelineHookStates = ['active', 'failed', 'none'] as const
export const notificationTypes = ['discord', 'slack', 'teams', 'rocket', 'mattermost', 'email', 'webhook'] as const
export const notificationEvents = [
  'deployment-status',
  'version-created',
  'node-added',
  'user-invited',
  'image-pushed',
  'image-pulled',
  'node-unreachable',
  'node-back',
  'image-digest-changed',
] as const
/** `skipped`: it was not sent, because the notification was switched off or changed its address meanwhile. */
export const notificationDeliveryStatuses = ['pending', 'delivered', 'failed', 'skipped'] as const
/** Of the release of a promotion; `unknown` when its deployment was deleted before it ended. */
export const promotionStatuses = ['in-progress', 'successful', 'failed', 'unknown'] as const

export type PipelineType = (typeof pipelineTypes)[number]
export type PipelineStatus = (typeof pipelineStatuses)[number]
export type PipelineEvent = (typeof pipelineEvents)[number]
export type NotificationType = (typeof notificationTypes)[number]
export type NotificationEvent = (typeof notificationEvents)[number]
export type NotificationDeliveryStatus = (typeof notificationDeliveryStatuses)[number]
