import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core'
import type { Message } from '../ui/messages.ts'
import type { Node } from '../ui/nodes.ts'

export const schemaName = 'identity'
const identity = pgSchema(schemaName)

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })
const createdAt = () => instant('created_at').notNull().defaultNow()
const timestamps = () => ({ createdAt: createdAt(), updatedAt: instant('updated_at').notNull().defaultNow() })

export type Traits = Record<string, unknown>
export type IdentityState = 'active' | 'inactive'
/** `provider`: the identity provider of a sign-in with `oidc`. */
export type AuthenticationMethod = { method: string; aal: string; completed_at: string; provider?: string }

export const identities = identity.table('identities', {
  id: uuid('id').primaryKey(),
  schemaId: text('schema_id').notNull(),
  state: text('state').$type<IdentityState>().notNull(),
  stateChangedAt: instant('state_changed_at').notNull().defaultNow(),
  traits: jsonb('traits').$type<Traits>().notNull(),
  metadataPublic: jsonb('metadata_public'),
  metadataAdmin: jsonb('metadata_admin'),
  /** When the user last recovered the account. Older API tokens no longer work. */
  recoveredAt: instant('recovered_at'),
  ...timestamps(),
})

const owner = () =>
  uuid('identity_id')
    .notNull()
    .references(() => identities.id, { onDelete: 'cascade' })

/** One row per sign-in method. `config` holds its secret (such as a password hash) and never leaves the service. */
export const credentials = identity.table(
  'credentials',
  {
    identityId: owner(),
    type: text('type').notNull(),
    config: jsonb('config').$type<Record<string, unknown>>().notNull().default({}),
    version: integer('version').notNull().default(0),
    ...timestamps(),
  },
  (table) => [primaryKey({ columns: [table.identityId, table.type] })],
)

/** The normalized identifier that a user types to sign in; unique per sign-in method over all identities. */
export const credentialIdentifiers = identity.table(
  'credential_identifiers',
  {
    type: text('type').notNull(),
    identifier: text('identifier').notNull(),
    identityId: owner(),
  },
  (table) => [primaryKey({ columns: [table.type, table.identifier] }), index().on(table.identityId)],
)

export type AddressStatus = 'pending' | 'sent' | 'completed'

export const verifiableAddresses = identity.table(
  'verifiable_addresses',
  {
    id: uuid('id').primaryKey(),
    identityId: owner(),
    value: text('value').notNull(),
    via: text('via').notNull(),
    verified: boolean('verified').notNull().default(false),
    status: text('status').$type<AddressStatus>().notNull().default('pending'),
    verifiedAt: instant('verified_at'),
    /** Counted as verified without a proof, because the service accepted connections from this machine only. */
    assumed: boolean('assumed').notNull().default(false),
    ...timestamps(),
  },
  (table) => [unique().on(table.via, table.value), index().on(table.identityId)],
)

export const recoveryAddresses = identity.table(
  'recovery_addresses',
  {
    id: uuid('id').primaryKey(),
    identityId: owner(),
    value: text('value').notNull(),
    via: text('via').notNull(),
    ...timestamps(),
  },
  (table) => [unique().on(table.via, table.value), index().on(table.identityId)],
)

/** `tokenHash` is the SHA-256 of the token, so a copy of the table gives access to no session. */
export const sessions = identity.table(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    identityId: owner(),
    tokenHash: bytea('token_hash').notNull().unique(),
    active: boolean('active').notNull().default(true),
    aal: text('aal').notNull(),
    authenticationMethods: jsonb('authentication_methods').$type<AuthenticationMethod[]>().notNull(),
    authenticatedAt: instant('authenticated_at').notNull(),
    issuedAt: instant('issued_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    ...timestamps(),
  },
  (table) => [index().on(table.identityId), index().on(table.expiresAt)],
)

export const sessionDevices = identity.table(
  'session_devices',
  {
    id: uuid('id').primaryKey(),
    sessionId: uuid('session_id')
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    ipAddress: text('ip_address').notNull(),
    userAgent: text('user_agent').notNull(),
    location: text('location').notNull().default(''),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.sessionId)],
)

/** The state of a flow that clients do not see. */
export interface FlowContext {
  requestedAal?: string
  refresh?: boolean
  /** Too many sign-ins have failed, so the flow requires a captcha. */
  captcha?: boolean
  /** Any browser may use the flow, because an administrator created it and passed its address on. */
  unbound?: boolean
  /** A native app requested a code to exchange for the session that a browser obtains. */
  exchanges?: boolean
  /** The state of each method between two requests, by its id. The method encrypts secrets before it stores them here. */
  methods?: Record<string, Record<string, unknown>>
}

export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'
/** The last two states occur in settings flows, the others in all other flows. */
export type FlowState = 'choose_method' | 'sent_email' | 'passed_challenge' | 'show_form' | 'success'
/** The content that a page renders. `action` is absent when it is the submit address of the flow. */
export interface FlowUi {
  method: 'POST' | 'GET'
  action?: string
  messages: Message[]
  nodes: Node[]
}

export const flows = identity.table(
  'flows',
  {
    id: uuid('id').primaryKey(),
    kind: text('kind').$type<FlowKind>().notNull(),
    type: text('type').$type<'api' | 'browser'>().notNull(),
    state: text('state').$type<FlowState>().notNull(),
    active: text('active'),
    requestUrl: text('request_url').notNull(),
    returnTo: text('return_to'),
    /** SHA-256 of the browser's csrf cookie: only that browser may use the flow. Null for API flows. */
    csrfHash: text('csrf_hash'),
    /** The user of the flow, if known; always set for settings. */
    identityId: uuid('identity_id').references(() => identities.id, { onDelete: 'cascade' }),
    ui: jsonb('ui').$type<FlowUi>().notNull(),
    context: jsonb('context').$type<FlowContext>().notNull().default({}),
    /** The number of codes that were submitted since the last one was sent. */
    attempts: integer('attempts').notNull().default(0),
    issuedAt: instant('issued_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    ...timestamps(),
  },
  (table) => [index().on(table.expiresAt), index().on(table.identityId)],
)

export type Flow = typeof flows.$inferSelect

/**
 * Codes, and the tokens of links, that were mailed for a flow. `codeHash` is keyed with the secret of the service and the flow, so that a copy of the
 * table does not allow a search through all six-digit codes.
 */
export const codes = identity.table(
  'codes',
  {
    id: uuid('id').primaryKey(),
    flowId: uuid('flow_id')
      .notNull()
      .references(() => flows.id, { onDelete: 'cascade' }),
    /** The address that the right code verifies. */
    addressId: uuid('address_id').references(() => verifiableAddresses.id, { onDelete: 'cascade' }),
    /** The identity that the right code signs in or recovers; null for a sign-up. */
    identityId: uuid('identity_id').references(() => identities.id, { onDelete: 'cascade' }),
    codeHash: bytea('code_hash').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.flowId), index().on(table.addressId), index().on(table.identityId)],
)

/** For native apps whose user signs in with a browser: a client that presents both codes gets the session of the flow, once. */
export const tokenExchanges = identity.table('token_exchanges', {
  flowId: uuid('flow_id')
    .primaryKey()
    .references(() => flows.id, { onDelete: 'cascade' }),
  initCodeHash: bytea('init_code_hash').notNull().unique(),
  returnToCodeHash: bytea('return_to_code_hash').notNull(),
  /** Set after the sign-in: the identity and its sign-in method. */
  identityId: uuid('identity_id').references(() => identities.id, { onDelete: 'cascade' }),
  authenticationMethods: jsonb('authentication_methods').$type<AuthenticationMethod[]>(),
  createdAt: createdAt(),
})

/** Keys that sign the tokens of `tokenize_as`. `sealedKey` is the private JWK, encrypted with the service's secret. */
export const signingKeys = identity.table('signing_keys', {
  id: text('id').primaryKey(),
  publicKey: jsonb('public_key').$type<Record<string, unknown>>().notNull(),
  sealedKey: text('sealed_key').notNull(),
  createdAt: createdAt(),
})

export type SignInEvent = {
  event: 'signed-up' | 'signed-in' | 'confirmed' | 'recovered'
  method: string
  /** The provider of the account that was used. */
  provider?: string
}

/** The events in the security log of a user. They contain no secrets. */
export type SecurityEvent =
  | SignInEvent
  | { event: 'password-changed' }
  | { event: 'address-changed'; from: string; to: string }
  /** `factor` as in UI texts: "an authenticator app". */
  | { event: 'factor-added' | 'factor-removed'; factor: string }
  /** The server reports the events of API tokens, because it stores the tokens. */
  | { event: 'token-created' | 'token-revoked'; name: string; scope?: string }
  | { event: 'tokens-revoked'; count: number }

/** The security events of an account, which its user can read: sign-ins, and every change of credentials. */
export const securityLog = identity.table(
  'security_log',
  {
    id: uuid('id').primaryKey(),
    identityId: owner(),
    event: text('event').notNull(),
    details: jsonb('details').$type<Record<string, unknown>>().notNull().default({}),
    ipAddress: text('ip_address').notNull(),
    userAgent: text('user_agent').notNull(),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.identityId, table.id.desc().nullsFirst())],
)

export const errors = identity.table(
  'errors',
  {
    id: uuid('id').primaryKey(),
    error: jsonb('error').$type<Record<string, unknown>>().notNull(),
    ...timestamps(),
  },
  (table) => [index().on(table.createdAt)],
)

/** Mails to send. A row is deleted when its mail was delivered or is no longer useful, because bodies contain codes. */
export const mailOutbox = identity.table(
  'mail_outbox',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    recipient: text('recipient').notNull(),
    subject: text('subject').notNull(),
    text: text('text').notNull(),
    html: text('html').notNull(),
    attempts: integer('attempts').notNull().default(0),
    nextAttemptAt: instant('next_attempt_at').notNull().defaultNow(),
    usefulUntil: instant('useful_until').notNull(),
    createdAt: createdAt(),
  },
  (table) => [index().on(table.nextAttemptAt)],
)

/** Counters of a fixed window that begins with the first hit. Keys are hashes, so the table contains no addresses and no names. */
export const rateLimits = identity.table(
  'rate_limits',
  {
    key: bytea('key').primaryKey(),
    hits: integer('hits').notNull(),
    resetsAt: instant('resets_at').notNull(),
  },
  (table) => [index().on(table.resetsAt)],
)
