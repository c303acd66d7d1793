import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { isTyping } from '../components/use-key.ts'
import { links } from '../routing/links.ts'

type Options = { teamSlug: string | undefined; onPalette: () => void; onHelp: () => void }

/** How long the second key of "g p" may take. */
const sequenceMs = 1_200

/** Ctrl/Cmd K, `?`, and `g p`, `g d`, `g n`. Single keys do nothing while a user types or a dialog is open. */
export function useShortcuts(options: Options): void {
  const navigate = useNavigate()
  const latest = useRef(options)
  latest.current = options

  useEffect(() => {
    let leaderAt = 0
    const press = (event: KeyboardEvent) => {
      const { teamSlug, onPalette, onHelp } = latest.current
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return onPalette()
      }
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event.target) ||
        document.querySelector('[role="dialog"], [role="alertdialog"]')
      )
        return
      if (event.key === '?') return onHelp()
      if (event.key === 'g') {
        leaderAt = event.timeStamp
        return
      }
      if (!teamSlug || event.timeStamp - leaderAt > sequenceMs) return
      leaderAt = 0
      if (event.key === 'p') void navigate(links.projects(teamSlug))
      if (event.key === 'd') void navigate(links.deployments(teamSlug))
      if (event.key === 'n') void navigate(links.nodes(teamSlug))
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [navigate])
}
