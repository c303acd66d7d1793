/** Numbers and patterns that several schemas share. Changing one changes the API and the forms. */
export const limits = {
  name: { min: 3, max: 70 },
  teamSlug: { min: 3, max: 16 },
  description: { max: 5_000 },
  url: { max: 2_048 },
  /** The same as in the password policy of the identity service. */
  password: { min: 8, max: 1_024 },
  userId: { min: -1, max: 2_147_483_647 },
  port: { min: 1, max: 65_535 },
  page: { default: 10, max: 1_000 },
  /** `batched`: of a log that is followed in batches. */
  logTake: { default: 100, max: 1_000, batched: 100_000 },
  listEntries: 2_000,
  value: { max: 65_536 },
  containerName: { max: 63 },
  body: { max: 1_048_576 },
  imagesPerRequest: 100,
  /** The maximum of images and bytes of one import. */
  importedImages: 500,
  importBody: 4_194_304,
  /** Each tag costs the registry up to three requests. */
  tagDetailsPerRequest: 50,
  /** Ports of an image for which free ports of a node are proposed. */
  proposedPorts: 20,
  allowedDomains: 50,
  tokensPerHolder: 100,
  /** The maximum to which hits of a search in the audit log are counted. */
  auditLogHits: 10_000,
  startWaitSeconds: 600,
  /** The maximum of entries of each kind that the dashboard names as needing attention. */
  attention: 5,
  /** The days of deployments that the dashboard counts. */
  activityDays: { default: 30, max: 90 },
  /** The newest successful releases of a range whose times make its median. */
  activityMedian: 1_000,
  /** How long after a sign-in a session may create credentials that outlive it; the same as for privileged changes in the identity service. */
  recentSignInMs: 300_000,
  stopGracePeriodSeconds: 3_600,
  /** A tag of 128 characters, `@`, and a digest of 71. */
  tagOrDigest: { max: 200 },
  replicas: { min: 0, max: 100 },
  /** The maximum of ids in the address of a preview, because proxies limit the length of addresses. */
  previewInstances: 200,
  /** The maximum of the database column that counts the releases of a deployment. */
  releaseNumber: 2_147_483_647,
  packageChains: 100,
  packageEnvironments: 20,
  freezeWindows: 20,
  freezeReason: { max: 500 },
  pipelineInputs: 100,
  pipelineInput: { max: 8_192 },
  eventWatchers: 50,
  notifications: 100,
  notificationMembers: 100,
  webhookSecret: { min: 16, max: 255 },
  /** The maximum of a DNS subdomain, as which the Kubernetes API takes most names. */
  kubernetesName: { max: 253 },
  /** Storage classes or namespaces that a node's settings name. */
  clusterNames: { max: 50 },
  drainSeconds: { min: 0, max: 60 },
} as const

export const patterns = {
  /** A DNS label: a name part that both Docker and Kubernetes accept (RFC 1123, at most 63 characters). */
  dnsLabel: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  /** What the Kubernetes API takes as the name of a class or an issuer: DNS labels joined by dots. */
  dnsSubdomain: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  /** A container name that the page accepts before the prefix is known. */
  containerName: /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/,
  /** A quantity of bytes in the format of Kubernetes. */
  quantity: /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/,
  /** Cores in the format of Kubernetes: `2`, `0.5`, `500m`. */
  cpu: /^[0-9]+(\.[0-9]+)?m?$/,
  hostName: /^[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?)*$/,
  /** A repository path of the distribution specification: lower-case components joined by `/`. */
  imageName: /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/,
  /** A tag of the distribution specification. */
  imageTag: /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/,
  /** The digest of an image's manifest. */
  digest: /^sha256:[a-f0-9]{64}$/,
  /** What an image of a version has: a tag, a digest, or a tag with the digest that it is pinned to. */
  tagOrDigest: /^(?:[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}(?:@sha256:[a-f0-9]{64})?|sha256:[a-f0-9]{64})$/,
  teamSlug: /^[a-z0-9]+(-[a-z0-9]+)*$/,
  emailDomain: /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,63}$/,
  signal:
    /^(SIG(ABRT|ALRM|BUS|CHLD|CONT|FPE|HUP|ILL|INT|IO|KILL|PIPE|POLL|PROF|PWR|QUIT|SEGV|STOP|SYS|TERM|TRAP|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ|RTMIN(\+([1-9]|1[0-5]))?|RTMAX(-([1-9]|1[0-4]))?)|[1-9]|[1-5]\d|6[0-4])$/,
  /** Secrets with the same group get the same generated value. */
  secretGroup: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  timeOfDay: /^([01]\d|2[0-3]):[0-5]\d$/,
  noWhitespace: /^\S+$/,
} as const

/** Path segments that a team slug must not use, because the console or the server answers there. */
export const reservedTeamSlugs = [
  '404',
  '500',
  'api',
  'auth',
  'basics',
  'composer',
  'error',
  'health',
  'invitation',
  'kratos',
  'metrics',
  'mails',
  'new',
  'status',
  'swagger',
  'teams',
  'templates',
  'assets',
  'fonts',
  'static',
  'docs',
  'settings',
  'well-known',
] as const

/** Whether a namespace is one of a cluster's own, which no deployment uses. */
export const isClusterNamespace = (name: string): boolean => name === 'default' || name.startsWith('kube-')
