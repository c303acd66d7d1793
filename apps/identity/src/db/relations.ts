import { relations } from 'drizzle-orm'
import { identities, recoveryAddresses, sessionDevices, sessions, verifiableAddresses } from './schema.ts'

// The rows that belong together, so that one query reads an identity with its addresses, or a session with all that is shown of it.

export const identityRelations = relations(identities, ({ many }) => ({
  verifiable: many(verifiableAddresses),
  recovery: many(recoveryAddresses),
}))

export const sessionRelations = relations(sessions, ({ one, many }) => ({
  user: one(identities, { fields: [sessions.identityId], references: [identities.id] }),
  devices: many(sessionDevices),
}))

export const verifiableAddressRelations = relations(verifiableAddresses, ({ one }) => ({
  identity: one(identities, { fields: [verifiableAddresses.identityId], references: [identities.id] }),
}))

export const recoveryAddressRelations = relations(recoveryAddresses, ({ one }) => ({
  identity: one(identities, { fields: [recoveryAddresses.identityId], references: [identities.id] }),
}))

export const sessionDeviceRelations = relations(sessionDevices, ({ one }) => ({
  session: one(sessions, { fields: [sessionDevices.sessionId], references: [sessions.id] }),
}))
