import { validateConfig } from '@crux/rules'
import { type PlacedRow, type ServiceContext, setRows } from './service-context.ts'
import { getMember, toComposeRecord, toPairs } from './values.ts'

type Row = { key: string; value: string }

/** Converts `environment` over the variables of the files that `env_file` names. */
export function convertEnvironment(context: ServiceContext, fileVariables: Readonly<Record<string, string>>): void {
  const rows = new Map<string, PlacedRow<Row>>()
  for (const [key, value] of Object.entries(fileVariables)) rows.set(key, { row: { key, value }, path: ['env_file'] })
  for (const { key, value, at } of toPairs(context.get('environment'))) {
    const path = ['environment', at]
    if (value !== null) rows.set(key, { row: { key, value }, path })
    else if (!rows.has(key))
      context.omit(
        path,
        `${key} has no value: Compose takes it from the shell that runs it. Write a value, or add it to an env file`,
      )
  }
  setRows(context, 'environment', [...rows.values()], (environment) => {
    context.config.environment = environment
  })
}

/** Converts `labels` of the container, and those of `deploy`, which belong to the workload. */
export function convertLabels(context: ServiceContext): void {
  const rows = toPairs(context.get('labels')).map(({ key, value, at }) => ({
    row: { key, value: value ?? '' },
    path: ['labels', at],
  }))
  setRows(context, 'dockerLabels', rows, (labels) => {
    context.config.dockerLabels = labels
  })
  const workload: Row[] = []
  for (const { key, value, at } of toPairs(getMember(toComposeRecord(context.get('deploy')), 'labels'))) {
    const row = { key, value: value ?? '' }
    const [problem] = validateConfig({ labels: { deployment: [row] } })
    if (problem)
      context.omit(
        ['deploy', 'labels', at],
        `Labels of a deployment are for Kubernetes, which does not accept this one. ${problem.description}`,
      )
    else workload.push(row)
  }
  if (workload.length > 0) context.set('labels', { deployment: workload }, ['deploy', 'labels'])
}
