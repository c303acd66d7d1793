import type Docker from 'dockerode'

type Seen = Pick<Docker.ContainerInspectInfo, 'RestartCount'> & {
  State: Pick<Docker.ContainerInspectInfo['State'], 'ExitCode' | 'Restarting' | 'Running' | 'Status'>
}

/** @returns why the container of a new agent does not do its work, as far as the engine shows it; undefined while it runs */
export function describeSuccessorFailure({ RestartCount, State }: Seen): string | undefined {
  if (State.Status === 'created') return 'The container of the new agent was not started.'
  const isRunning = State.Running && !State.Restarting
  if (isRunning && RestartCount === 0) return undefined
  // The engine forgets the exit code when it starts the container again.
  const how = isRunning ? 'and was started again' : `with code ${State.ExitCode}`
  return `The new agent ended at once ${how}.`
}
