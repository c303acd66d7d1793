import type { Container } from '@crux/contract'
import { useState } from 'react'
import { filterRows } from '../../table/filter-rows.ts'
import { containerName, imageText, isInternal, type StateFilter, toStateFilter } from './containers.ts'

export type ContainerFilter = ReturnType<typeof useContainerFilter>

/** The containers that search, state and the switch for internal ones leave. */
export function useContainerFilter(containers: readonly Container[], stopper: (container: Container) => unknown) {
  const [text, setText] = useState('')
  const [internal, setInternal] = useState(false)
  const [state, setState] = useState<StateFilter>('all')
  const shown = internal ? containers : containers.filter((container) => !isInternal(container))
  const found = filterRows(shown, text, (container) => [
    containerName(container),
    imageText(container),
    container.state,
    container.reason,
    container.status,
  ])
  const inState = (value: StateFilter) =>
    value === 'all'
      ? found
      : found.filter((container) => toStateFilter(container, Boolean(stopper(container))) === value)
  return {
    text,
    setText,
    internal,
    setInternal,
    state,
    setState,
    /** How many containers are internal. */
    hidden: containers.filter(isInternal).length,
    /** How many there are without search and state. */
    total: shown.length,
    rows: inState(state),
    countMatches: (value: StateFilter) => inState(value).length,
    reset: () => {
      setText('')
      setState('all')
    },
  }
}
