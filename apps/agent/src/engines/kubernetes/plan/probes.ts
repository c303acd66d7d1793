import type { FinalContainerConfig } from '@crux/contract'
import { healthCheckTest } from '@crux/rules'

/** Docker's defaults, so that one configuration means the same on both kinds of nodes. */
const defaults = { periodSeconds: 30, timeoutSeconds: 30, failureThreshold: 3 }
const httpDefaults = { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3 }
/** A startup probe may fail until the deadline of the rollout. */
const startupPeriodSeconds = 2

/** @throws Error with a sentence for users */
export function toProbes(config: FinalContainerConfig, timeoutSeconds: number): Record<string, object> {
  const { healthCheckConfig: health } = config
  if (!health) return {}
  const { livenessProbe, readinessProbe, startupProbe } = health
  const port = health.port ?? config.routing?.port ?? config.ports.find(({ protocol }) => protocol !== 'udp')?.internal
  const toHttp = (path: string) => {
    if (!port) throw new Error('healthCheckConfig: a probe needs a port; set healthCheckConfig.port, or add a port')
    return { httpGet: { path: path.startsWith('/') ? path : `/${path}`, port } }
  }
  const times = {
    ...(health.intervalSeconds && { periodSeconds: health.intervalSeconds }),
    ...(health.timeoutSeconds && { timeoutSeconds: health.timeoutSeconds }),
    ...(health.retries && { failureThreshold: health.retries }),
  }
  const delay = health.startPeriodSeconds ? { initialDelaySeconds: health.startPeriodSeconds } : {}
  const test = healthCheckTest(health)
  const isTested = test !== undefined && test[0] !== 'NONE'
  const exec = isTested ? { exec: { command: toCommand(test) }, ...defaults, ...times } : undefined
  const failureThreshold = Math.max(1, Math.ceil(timeoutSeconds / startupPeriodSeconds))
  return {
    ...(startupProbe && {
      startupProbe: { ...toHttp(startupProbe), periodSeconds: startupPeriodSeconds, failureThreshold },
    }),
    ...(readinessProbe
      ? { readinessProbe: { ...toHttp(readinessProbe), ...httpDefaults, ...times, ...delay } }
      : exec && { readinessProbe: { ...exec, ...delay } }),
    ...(livenessProbe && {
      livenessProbe: { ...toHttp(livenessProbe), ...httpDefaults, periodSeconds: 10, ...times, ...delay },
    }),
  }
}

/** `CMD` is a program with arguments, `CMD-SHELL` a text for the shell of the container. */
const toCommand = ([form, ...rest]: readonly string[]): string[] =>
  form === 'CMD-SHELL' ? ['/bin/sh', '-c', rest.join(' ')] : [...rest]
