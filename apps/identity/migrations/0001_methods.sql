CREATE TABLE "identity"."security_log" (
	"id" uuid PRIMARY KEY NOT NULL,
	"identity_id" uuid NOT NULL,
	"event" text NOT NULL,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"ip_address" text NOT NULL,
	"user_agent" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."signing_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"public_key" jsonb NOT NULL,
	"sealed_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity"."token_exchanges" (
	"flow_id" uuid PRIMARY KEY NOT NULL,
	"init_code_hash" "bytea" NOT NULL,
	"return_to_code_hash" "bytea" NOT NULL,
	"identity_id" uuid,
	"authentication_methods" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "token_exchanges_init_code_hash_unique" UNIQUE("init_code_hash")
);
--> statement-breakpoint
ALTER TABLE "identity"."codes" ALTER COLUMN "address_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "identity"."codes" ADD COLUMN "identity_id" uuid;--> statement-breakpoint
ALTER TABLE "identity"."flows" ADD COLUMN "identity_id" uuid;--> statement-breakpoint
ALTER TABLE "identity"."security_log" ADD CONSTRAINT "security_log_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."token_exchanges" ADD CONSTRAINT "token_exchanges_flow_id_flows_id_fk" FOREIGN KEY ("flow_id") REFERENCES "identity"."flows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."token_exchanges" ADD CONSTRAINT "token_exchanges_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "security_log_identity_id_id_index" ON "identity"."security_log" USING btree ("identity_id","id" DESC NULLS FIRST);--> statement-breakpoint
ALTER TABLE "identity"."codes" ADD CONSTRAINT "codes_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity"."flows" ADD CONSTRAINT "flows_identity_id_identities_id_fk" FOREIGN KEY ("identity_id") REFERENCES "identity"."identities"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "codes_identity_id_index" ON "identity"."codes" USING btree ("identity_id");--> statement-breakpoint
CREATE INDEX "flows_identity_id_index" ON "identity"."flows" USING btree ("identity_id");