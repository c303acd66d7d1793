import { Outlet } from '@tanstack/react-router'
import { ConfirmHost } from '../components/confirm.tsx'
import { useFocusTrail } from '../components/focus-trail.ts'
import { TooltipHost } from '../components/Tooltip.tsx'
import { Toasts } from '../components/toasts.tsx'
// Follows the system's theme on every page, also where nothing offers a choice.
import '../stores/theme.ts'

export function RootLayout() {
  useFocusTrail()
  return (
    <>
      <Outlet />
      <ConfirmHost />
      <Toasts />
      <TooltipHost />
    </>
  )
}
