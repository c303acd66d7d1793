import type { FinalContainerConfig } from '@crux/contract'
import { bytesOfQuantity, healthCheckTest, millisOfCores } from '@crux/rules'
import type { HealthCheck, Resources } from '../containers/container-engine.ts'

/** @throws Error with a sentence for users */
export function toResources({ resourceConfig }: FinalContainerConfig): Resources {
  const { limits, requests } = resourceConfig ?? {}
  return withoutUndefined({
    cpuLimitMillis: toCores('limit of cores', limits?.cpu),
    memoryLimitBytes: countBytes('limit of memory', limits?.memory),
    cpuRequestMillis: toCores('requested share of cores', requests?.cpu),
    memoryRequestBytes: countBytes('requested memory', requests?.memory),
  })
}

/** Returns a check only where something is set; times alone change those of the image's own check. */
export function toHealthCheck({ healthCheckConfig }: FinalContainerConfig): HealthCheck | undefined {
  const { intervalSeconds, timeoutSeconds, startPeriodSeconds, retries } = healthCheckConfig ?? {}
  const test = healthCheckTest(healthCheckConfig)
  const times = [intervalSeconds, timeoutSeconds, startPeriodSeconds, retries]
  if (!test && times.every((value) => value == null)) return undefined
  return {
    test,
    intervalMs: milliseconds(intervalSeconds),
    timeoutMs: milliseconds(timeoutSeconds),
    startPeriodMs: milliseconds(startPeriodSeconds),
    retries: retries ?? undefined,
  }
}

/** @throws Error with a sentence for users when the text is no quantity of at least one byte */
export function countBytes(what: string, text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const bytes = bytesOfQuantity(text)
  if (!bytes) throw new Error(`the ${what} "${text}" is not a quantity such as 512Mi or 1G`)
  return bytes
}

function toCores(what: string, text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const millis = millisOfCores(text)
  // Kubernetes reads a limit of 0 as none, and so does the engine.
  if (millis === undefined) throw new Error(`the ${what} "${text}" is not a number of cores such as 0.5 or 500m`)
  return millis === 0 ? undefined : millis
}

function milliseconds(seconds: number | null | undefined): number | undefined {
  return seconds == null ? undefined : seconds * 1_000
}

function withoutUndefined(values: { [K in keyof Resources]: Resources[K] | undefined }): Resources {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
