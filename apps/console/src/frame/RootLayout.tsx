import { Outlet } from '@tanstack/react-router'
import { ConfirmHost } from '../components/confirm.tsx'
import { TooltipProvider } from '../components/Tooltip.tsx'
import { Toasts } from '../components/toasts.tsx'

export function RootLayout() {
  return (
    <TooltipProvider delayDuration={350} skipDelayDuration={200}>
      <Outlet />
      <ConfirmHost />
      <Toasts />
    </TooltipProvider>
  )
}
