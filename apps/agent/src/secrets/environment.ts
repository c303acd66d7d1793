import type { ResolvedInstance } from '../plan/plan.ts'
import { Refusal } from '../plan/refusal.ts'

/**
 * Readable values of an instance's secrets, for a container's environment and nothing else. A key that the environment has too is
 * left out: the environment wins (agents.md A7.4).
 *
 * @throws Refusal that names the key
 */
export async function secretsOf(
  { decrypt }: { decrypt: (message: string) => Promise<string> },
  { instanceId, config, base }: Pick<ResolvedInstance, 'instanceId' | 'config' | 'base'>,
): Promise<Record<string, string>> {
  const secrets: Record<string, string> = {}
  for (const { key, value, encrypted } of config.secrets) {
    if (value === undefined || Object.hasOwn(base.environment, key)) continue
    try {
      secrets[key] = value === '' || encrypted === false ? value : await decrypt(value)
    } catch (cause) {
      throw new Refusal(instanceId, `the secret ${key} cannot be read on this node: enter its value again`, { cause })
    }
  }
  return secrets
}
