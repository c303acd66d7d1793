/** Numbers and patterns that several shapes share. Sources: console.md 5 and 9, ui.md U26, decisions 21 and 30. */
export const limits = {
  name: { min: 3, max: 70 },
  teamSlug: { min: 3, max: 16 },
  description: { max: 5_000 },
  url: { max: 2_048 },
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
  allowedDomains: 50,
  tokensPerHolder: 100,
  /** Hits of a search in the audit log are counted up to here. */
  auditLogHits: 10_000,
  startWaitSeconds: 600,
  /** How long after a sign-in a session may create what outlives it; as long as the identity service's own privileged changes. */
  recentSignInMs: 300_000,
  stopGracePeriodSeconds: 3_600,
  /** Ids in the address of a preview: what every proxy on the way takes. */
  previewInstances: 200,
  /** As far as the database counts the tries of a deployment. */
  tries: 2_147_483_647,
} as const

export const patterns = {
  /** A DNS label: what Docker and Kubernetes both accept as a name part (RFC 1123, at most 63 characters). */
  dnsLabel: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  /** A container name as the page accepts it, before the prefix is known (ui.md U26.1). */
  containerName: /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/,
  /** Quantity of bytes as Kubernetes writes it (ui.md U26.3). */
  quantity: /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/,
  /** Cores as Kubernetes writes them: `2`, `0.5`, `500m`. */
  cpu: /^[0-9]+(\.[0-9]+)?m?$/,
  hostName: /^[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?)*$/,
  /** A repository path of the distribution specification: lower-case components joined by `/`. */
  imageName: /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/,
  /** A tag of the distribution specification. */
  imageTag: /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/,
  teamSlug: /^[a-z0-9]+(-[a-z0-9]+)*$/,
  emailDomain: /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,63}$/,
  signal:
    /^(SIG(ABRT|ALRM|BUS|CHLD|CONT|FPE|HUP|ILL|INT|IO|KILL|PIPE|POLL|PROF|PWR|QUIT|SEGV|STOP|SYS|TERM|TRAP|TSTP|TTIN|TTOU|URG|USR1|USR2|VTALRM|WINCH|XCPU|XFSZ|RTMIN(\+([1-9]|1[0-5]))?|RTMAX(-([1-9]|1[0-4]))?)|[1-9]|[1-5]\d|6[0-4])$/,
  noWhitespace: /^\S+$/,
} as const

/** Path segments that a team slug may not take, because the console or the server answers there (decision 6). */
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
