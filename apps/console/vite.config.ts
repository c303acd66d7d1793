import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The console is plain static files; the server serves dist/ and everything below these paths itself.
const server = process.env.CRUX_URL ?? 'http://localhost:8000'
// The server accepts the origin of CRUX_URL; in development the browser's is this one's.
const headers = { origin: new URL(server).origin }

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: { outDir: 'dist', target: 'es2022', sourcemap: false, assetsInlineLimit: 0 },
  server: {
    proxy: {
      '/api': { target: server, ws: true, headers },
      '/kratos': { target: server, headers },
      '/health': { target: server },
    },
  },
})
