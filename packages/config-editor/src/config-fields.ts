import { type ContainerConfig, type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'

/** The settings alone, without id, type and bookkeeping. */
export function getFields(config: ContainerConfig): ContainerConfigFields {
  const names = new Set<string>(containerConfigFieldNames)
  return Object.fromEntries(
    Object.entries(config).filter(([name, value]) => names.has(name) && value !== null && value !== undefined),
  )
}
