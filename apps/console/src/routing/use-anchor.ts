import { useLocation, useNavigate } from '@tanstack/react-router'

/**
 * A form that is open while the address ends in #new (or #edit): opening adds the anchor, closing removes it, so Back closes it
 * and a link can open it. The step of an open form is replaced by what follows it: Back leads to the page, not to the form again.
 */
export function useAnchor(anchor: 'new' | 'edit' | 'copy'): { open: boolean; show: () => void; close: () => void } {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const set = (value: string, replace: boolean) =>
    void navigate({ to: '.', search: true, hash: value, resetScroll: false, replace })
  return { open: hash === anchor, show: () => set(anchor, false), close: () => set('', true) }
}

/** For the navigation to what a form created: `navigate({ ...links.node(...), ...replaceFormEntry() })`. */
export const replaceFormEntry = () => ({ replace: location.hash === '#new' })
