-- What `test-neovim` does within Neovim: configures it as docs/editors.md shows, opens a rule, and asks the server. Exits with 1 at the
-- first thing that does not work.

local function say(message) io.stderr:write(message .. "\n") end

local function fail(message)
  say("FAILED: " .. message)
  vim.cmd("cquit 1")
end

--- Functions of later versions that the configuration uses, for Neovim 0.7.
if not vim.fs then
  vim.fs = {
    dirname = function(path) return vim.fn.fnamemodify(path, ":h") end,
    find = function(names, options)
      local dir = vim.fn.fnamemodify(options.path, ":p"):gsub("/$", "")
      while true do
        for _, name in ipairs(names) do
          local path = dir .. "/" .. name
          if vim.fn.filereadable(path) == 1 or vim.fn.isdirectory(path) == 1 then return { path } end
        end
        local above = vim.fn.fnamemodify(dir, ":h")
        if above == dir then return {} end
        dir = above
      end
    end,
  }
end
if not vim.lsp.start then
  vim.lsp.start = function(config)
    for _, client in ipairs(vim.lsp.get_active_clients()) do
      if client.name == config.name and client.config.root_dir == config.root_dir then return vim.lsp.buf_attach_client(0, client.id) end
    end
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
  end
end

local function clients()
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  return vim.tbl_filter(function(client) return client.name == "asterisk" end, get())
end

--- Waits for something that becomes true.
local function wait(what, check)
  if not vim.wait(180000, check, 50) then fail("waited in vain for " .. what) end
end

--- Asks the server about the cursor.
local function ask(method, more)
  local client = clients()[1]
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more or {}), 30000)
  if not answers then fail("no answer to " .. method) end
  for _, answer in pairs(answers) do
    if answer.error or answer.err then fail(method .. ": " .. vim.inspect(answer)) end
    if answer.result then return answer.result end
  end
  fail("no result of " .. method)
end

--- Puts the cursor on a word of the buffer.
local function go(pattern)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  if vim.fn.search(pattern, "cW") == 0 then fail("there is no " .. pattern) end
end

local function try()
  vim.cmd("luafile " .. vim.env.HOME .. "/../config.lua")
  -- Neovim 0.7 needs to be told.
  vim.g.do_filetype_lua = 1
  vim.cmd("filetype on")
  vim.cmd("edit " .. vim.fn.fnameescape(vim.fn.getcwd() .. "/scripts/rules/rca.rhai"))
  if vim.bo.filetype ~= "rhai" then fail("the file type is " .. vim.bo.filetype) end
  wait("the server", function() return #clients() == 1 and (clients()[1].initialized or clients()[1].server_capabilities ~= nil) end)

  local function mistakes()
    return vim.tbl_filter(function(found) return found.message:find("confidense", 1, true) ~= nil end, vim.diagnostic.get(0))
  end
  wait("the diagnostic of a mistake", function() return #mistakes() > 0 end)
  local line = mistakes()[1].lnum
  if not vim.api.nvim_buf_get_lines(0, line, line + 1, true)[1]:find("confidense") then fail("the mistake is shown on line " .. line + 1) end
  say("diagnostics: " .. mistakes()[1].message)

  go("fn \\zsrecall_hit")
  local hover = vim.inspect(ask("textDocument/hover"))
  if not hover:find("recall_hit") then fail("hover: " .. hover) end
  say("hover: yes")

  go("vars\\.\\zsrecall_hit")
  local completion = ask("textDocument/completion", { context = { triggerKind = 1 } })
  local items = completion.items or completion
  local labels = vim.tbl_map(function(item) return item.label end, items)
  if not vim.tbl_contains(labels, "recall_hit") then fail("completion: " .. table.concat(labels, " ")) end
  say("completion: " .. #items .. " items")

  -- The diagnostic goes when the mistake is corrected, without saving.
  vim.cmd("silent %s/confidense/confidence/")
  wait("the diagnostic to go", function() return #mistakes() == 0 end)

  vim.cmd("edit! " .. vim.fn.fnameescape(vim.fn.getcwd() .. "/scripts/rules/ugly.rhai"))
  wait("the server of another file", function() return next(vim.lsp.buf_get_clients and vim.lsp.buf_get_clients(0) or vim.lsp.get_clients({ bufnr = 0 })) ~= nil end)
  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = 30000 })
  else
    vim.lsp.buf.formatting_sync(nil, 30000)
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
  if not text:find("fn ugly(artifact, state, vars) {", 1, true) then fail("formatting: " .. text) end
  say("formatting: yes")

  for _, client in ipairs(clients()) do client.stop() end
  wait("the server to stop", function() return #clients() == 0 end)
end

local good, message = pcall(try)
if not good then fail(tostring(message)) end
vim.cmd("quitall!")
