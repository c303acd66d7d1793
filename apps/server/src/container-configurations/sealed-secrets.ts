import { type ContainerConfigFields, type ContainerConfigPatch, CruxError, type ErrorDetail } from '@crux/contract'
import { listKeyIds, listRecipients } from './openpgp-packets.ts'
import type { OwnedConfig } from './store.ts'

type Secret = NonNullable<ContainerConfigFields['secrets']>[number]
type Node = { name: string; publicKey: string | null }

/**
 * The patch with its secrets in the form to store: a base layer has keys only, and a concrete one has values that only
 * its node can read. Stored values stay unchanged, so that a client may send a list back as a whole.
 *
 * @throws CruxError invalidArgument `config.secrets[i].value`, which never contains the value
 */
export function withSealedSecrets(
  config: Pick<OwnedConfig, 'row' | 'deployment'>,
  before: ContainerConfigFields,
  patch: ContainerConfigPatch,
): ContainerConfigPatch {
  const given = patch.config?.secrets
  if (!given) return patch
  const stored = new Map((before.secrets ?? []).map((row) => [row.key, row]))
  const node = config.deployment?.node
  const { secrets, problems } = node
    ? sealEach(given, (row) => concrete(row, stored.get(row.key), node))
    : toBaseSecrets(given)
  const details = problems.map((problem) => ({ ...problem, property: `config.${problem.property}` }))
  const [first] = details
  if (first)
    throw new CruxError('invalidArgument', { property: first.property, description: first.description, details })
  return { ...patch, config: { ...patch.config, secrets } }
}

/** Secrets of a layer that has keys only, with a problem for each value. */
export const toBaseSecrets = (rows: readonly Secret[]): SealedSecrets => sealEach(rows, base)

type SealedSecrets = { secrets: Secret[]; problems: ErrorDetail[] }

function sealEach(rows: readonly Secret[], judge: (row: Secret) => Judged): SealedSecrets {
  const judged = rows.map(judge)
  return {
    secrets: judged.flatMap((row) => ('problem' in row ? [] : [row])),
    problems: judged.flatMap((row, index): ErrorDetail[] =>
      'problem' in row
        ? [{ property: `secrets[${index}].value`, error: 'notEncrypted', description: row.problem }]
        : [],
    ),
  }
}

/**
 * Whether the row had a value until the node's key changed. A client that sends the row without its `publicKey` gives
 * the value up.
 */
export const isVoided = (row: Secret): boolean => !row.value && Boolean(row.publicKey)

type Judged = Secret | { problem: string }

const named = ({ id, key, required }: Secret): Secret => ({ ...(id && { id }), key, required })

function base(row: Secret): Judged {
  if (row.value)
    return {
      problem: `${row.key}: an image and a bundle name secrets only; enter the value at a deployment or an instance`,
    }
  return named(row)
}

function concrete(row: Secret, stored: Secret | undefined, node: Node): Judged {
  if (!row.value) return stored && isVoided(stored) && row.publicKey ? { ...named(row), ...seal(stored) } : named(row)
  if (row.value === stored?.value) return { ...named(row), ...seal(stored) }
  const { publicKey } = node
  if (!publicKey)
    return {
      problem: `${row.key}: ${node.name} has never been connected, so there is no key to encrypt this value with: install its agent first`,
    }
  const recipients = listRecipients(row.value)
  if (!recipients)
    return { problem: `${row.key}: the value is not encrypted; encrypt it with OpenPGP for the key of ${node.name}` }
  const ids = new Set(listKeyIds(publicKey))
  if (!recipients.every((id) => ids.has(id)))
    return { problem: `${row.key}: the value is not encrypted for the present key of ${node.name}; enter it again` }
  return { ...named(row), value: row.value, encrypted: true, publicKey }
}

const seal = ({ value, encrypted, publicKey }: Secret) => ({ value, encrypted, publicKey })
