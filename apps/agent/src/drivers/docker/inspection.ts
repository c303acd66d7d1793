import type Docker from 'dockerode'
import { label } from '../../plan/labels.ts'

/** The inspection with `***` for the values of the environment variables that the container's own label names as secret. */
export function redactInspection(info: Docker.ContainerInspectInfo): Docker.ContainerInspectInfo {
  const keys = new Set((info.Config.Labels?.[label.secretKeys] ?? '').split(',').filter((key) => key !== ''))
  if (keys.size === 0) return info
  const env = (info.Config.Env ?? []).map((entry) => {
    const key = entry.slice(0, entry.indexOf('='))
    return keys.has(key) ? `${key}=***` : entry
  })
  return { ...info, Config: { ...info.Config, Env: env } }
}
