import type { ContainerConfigFields } from '@crux/contract'
import type { Report } from './config-problem.ts'

type HealthCheck = ContainerConfigFields['healthCheckConfig']

/** The test of a health check in the form of the engine; undefined leaves the one of the image. */
export function healthCheckTest(health: HealthCheck): string[] | undefined {
  if (health?.test === 'none') return ['NONE']
  if (health?.test === 'exec') return ['CMD', ...(health.arguments ?? []).map(({ key }) => key)]
  return health?.command ? ['CMD-SHELL', health.command] : undefined
}

/** Whether the engine checks the health of a container, with a test of the configuration or that of its image. */
export function hasHealthTest(health: HealthCheck, image: { hasHealthCheck?: boolean | undefined }): boolean {
  const test = healthCheckTest(health)
  return test ? test[0] !== 'NONE' : image.hasHealthCheck === true
}

/** Each form has its own setting, so that no stored test is one that never runs. */
export function checkHealthTest(health: HealthCheck, report: Report): void {
  const form = health?.test ?? 'shell'
  const given = { command: Boolean(health?.command), arguments: (health?.arguments ?? []).length > 0 }
  if (form === 'exec' && !given.arguments)
    report('healthCheckConfig.arguments', 'required', 'Write the program that is run, and its arguments')
  if (form !== 'exec' && given.arguments)
    report('healthCheckConfig.arguments', 'oneOf', 'Only a test of the form exec has arguments: remove them')
  if (form !== 'shell' && given.command)
    report('healthCheckConfig.command', 'oneOf', `A test of the form ${form} has no command: remove it`)
}
