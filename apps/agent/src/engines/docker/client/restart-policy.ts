import type { RestartPolicy } from '../containers/container-engine.ts'

export function rawPolicy(policy: RestartPolicy) {
  return { Name: policy.name, MaximumRetryCount: policy.maximumRetries ?? 0 }
}
