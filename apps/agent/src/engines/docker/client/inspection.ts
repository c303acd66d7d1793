import type Docker from 'dockerode'
import { label } from '../../labels.ts'

/** The values of the environment variables that the container's own label names as secret. */
export function secretValues({ Config: config }: Docker.ContainerInspectInfo): string[] {
  const keys = secretKeys(config.Labels)
  return keys.size === 0 ? [] : (config.Env ?? []).filter((entry) => keys.has(toKey(entry))).map(getText)
}

/** Returns the inspection with `***` for the values of the environment variables that the container's own label names as secret. */
export function redactInspection(info: Docker.ContainerInspectInfo): Docker.ContainerInspectInfo {
  const keys = secretKeys(info.Config.Labels)
  if (keys.size === 0) return info
  const env = (info.Config.Env ?? []).map((entry) => (keys.has(toKey(entry)) ? `${toKey(entry)}=***` : entry))
  return { ...info, Config: { ...info.Config, Env: env } }
}

const secretKeys = (labels: Readonly<Record<string, string>> | undefined): Set<string> =>
  new Set((labels?.[label.secretKeys] ?? '').split(',').filter((key) => key !== ''))
const toKey = (entry: string): string => entry.slice(0, entry.indexOf('='))
const getText = (entry: string): string => entry.slice(entry.indexOf('=') + 1)
