CREATE TABLE "crux"."registry_delivery" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"event" text NOT NULL,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"images" jsonb NOT NULL,
	"result" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."registry_delivery_key" (
	"registry_id" uuid NOT NULL,
	"key" text NOT NULL,
	"received_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "registry_delivery_key_registry_id_key_pk" PRIMARY KEY("registry_id","key")
);
--> statement-breakpoint
CREATE TABLE "crux"."registry_hook" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"registry_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"hash" text,
	"secret" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "registry_hook_secret" CHECK (num_nonnulls(hash, secret) = 1)
);
--> statement-breakpoint
ALTER TABLE "crux"."registry_delivery" ADD CONSTRAINT "registry_delivery_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry_delivery_key" ADD CONSTRAINT "registry_delivery_key_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry_hook" ADD CONSTRAINT "registry_hook_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "registry_delivery_newest" ON "crux"."registry_delivery" USING btree ("registry_id","id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "registry_delivery_key_received" ON "crux"."registry_delivery_key" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "registry_hook_kind" ON "crux"."registry_hook" USING btree ("registry_id","kind");