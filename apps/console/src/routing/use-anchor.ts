import { useNavigate, useRouterState } from '@tanstack/react-router'

/**
 * A form that is open while the address ends in #new (or #edit, #trigger): opening adds the anchor, closing removes it, so Back closes it
 * and a link can open it. The step of an open form is replaced by what follows it: Back leads to the page, not to the form again.
 */
export function useAnchor(anchor: 'new' | 'edit' | 'copy' | 'run' | 'trigger'): {
  open: boolean
  show: () => void
  close: () => void
} {
  // While another page loads, this one stays as it is. A form whose list was already updated would otherwise uncover it for a moment, and a
  // click on its new row would be lost when the page of what was created replaces the list.
  const hash = useRouterState({
    select: ({ location, resolvedLocation = location }) =>
      location.pathname === resolvedLocation.pathname ? location.hash : resolvedLocation.hash,
  })
  const navigate = useNavigate()
  const set = (value: string, replace: boolean) =>
    void navigate({ to: '.', search: true, hash: value, resetScroll: false, replace })
  return { open: hash === anchor, show: () => set(anchor, false), close: () => set('', true) }
}

/** For the navigation to what a form created: `navigate({ ...links.node(...), ...replaceFormEntry() })`. */
export const replaceFormEntry = () => ({ replace: location.hash === '#new' || location.hash === '#run' })
