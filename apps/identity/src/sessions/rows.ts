import type { AddressStatus, IdentityState, Traits } from '../db/schema.ts'
import type { Person } from '../identities/store.ts'

/** A user as one row of PostgreSQL: nested data as JSON, times as text. */
export interface PersonRow {
  identity: {
    id: string
    schema_id: string
    state: IdentityState
    state_changed_at: string
    traits: Traits
    metadata_public: unknown
    metadata_admin: unknown
    recovered_at: string | null
    created_at: string
    updated_at: string
  }
  verifiable: (AddressRow & {
    verified: boolean
    status: AddressStatus
    verified_at: string | null
    assumed: boolean
  })[]
  recovery: AddressRow[]
}

interface AddressRow {
  id: string
  identity_id: string
  value: string
  via: string
  created_at: string
  updated_at: string
}

export function personFromRow({ identity, verifiable, recovery }: PersonRow): Person {
  return {
    identity: {
      id: identity.id,
      schemaId: identity.schema_id,
      state: identity.state,
      stateChangedAt: new Date(identity.state_changed_at),
      traits: identity.traits,
      metadataPublic: identity.metadata_public,
      metadataAdmin: identity.metadata_admin,
      recoveredAt: identity.recovered_at === null ? null : new Date(identity.recovered_at),
      createdAt: new Date(identity.created_at),
      updatedAt: new Date(identity.updated_at),
    },
    verifiable: verifiable.map((row) => ({
      ...address(row),
      verified: row.verified,
      status: row.status,
      assumed: row.assumed,
      verifiedAt: row.verified_at === null ? null : new Date(row.verified_at),
    })),
    recovery: recovery.map(address),
  }
}

function address(row: AddressRow) {
  return {
    id: row.id,
    identityId: row.identity_id,
    value: row.value,
    via: row.via,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  }
}
