import type { FinalContainerConfig } from '@crux/contract'
import { PlanError } from '../errors.ts'

/** Of Linux, for one variable with its name, `=` and the character that ends it: no program starts with a larger one. */
const variableBytesMax = 131_072

/** Readable values by key, of each instance: in memory only, while its release is applied. */
export type OpenedSecrets = ReadonlyMap<string, Readonly<Record<string, string>>>

/** An instance of a release, as far as its secrets need it. */
interface InstanceWithSecrets {
  instanceId: string
  config: Pick<FinalContainerConfig, 'secrets'>
  base: { environment: Readonly<Record<string, string>> }
}

/**
 * Decrypts all secrets of a release, before anything is pulled or changed. They are set in containers' environments and nowhere else. A key
 * that the environment has too is left out: the environment takes precedence.
 *
 * @throws PlanError that names the key, also for a value that is not encrypted, or that no program can get
 */
export async function openSecrets(
  decrypt: (message: string) => Promise<string>,
  desired: readonly InstanceWithSecrets[],
): Promise<OpenedSecrets> {
  const opened = new Map<string, Record<string, string>>()
  for (const { instanceId, config, base } of desired) {
    const secrets: Record<string, string> = {}
    opened.set(instanceId, secrets)
    for (const { key, value } of config.secrets) {
      if (value === undefined || Object.hasOwn(base.environment, key)) continue
      try {
        secrets[key] = value === '' ? value : await decrypt(value)
      } catch (cause) {
        throw new PlanError(instanceId, `the secret ${key} cannot be read on this node: enter its value again`, {
          cause,
        })
      }
      if (Buffer.byteLength(`${key}=${secrets[key]}`) >= variableBytesMax)
        throw new PlanError(
          instanceId,
          `the secret ${key} is too large for a variable: with its name it may have ${variableBytesMax - 1} bytes`,
        )
    }
  }
  return opened
}
