import type { Instance } from '@crux/agent-protocol'
import type { RegistryCredentials } from './image-reference.ts'

/** The credentials with which an instance's image is pulled; undefined for a public image. */
export function toRegistryCredentials({
  registryAuth,
}: Pick<Instance, 'registryAuth'>): RegistryCredentials | undefined {
  if (!registryAuth || (registryAuth.username === '' && registryAuth.password === '')) return undefined
  const { serverAddress, username, password } = registryAuth
  return { serverAddress, username, password }
}
